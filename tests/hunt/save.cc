#include "tests/hunt/save.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/support/tools_npy.h"

namespace boba::hunt {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

template <Element T>
std::string npy(const Rows& rows) {
  std::vector<std::vector<T>> typed;
  for (const Row& row : rows) {
    std::vector<T>& out = typed.emplace_back();
    for (double x : row) out.push_back(static_cast<T>(x));
  }
  return test::npy_of(typed);
}

template <Element T>
Rows rows_of(const fs::path& path, std::size_t rows, std::size_t length) {
  Rows result;
  for (const std::vector<T>& row : test::npy_rows<T>(read_file(path), rows, length)) {
    result.emplace_back(row.begin(), row.end());
  }
  return result;
}

std::string listed(const std::vector<bool>& liar) {
  std::string text;
  for (bool one : liar) text += one ? '1' : '0';
  return text;
}

}  // namespace

std::string command_of(const Scene& scene, const fs::path& folder) {
  const fs::path here = folder;
  return fmt::format("boba aggregate --rule '{}' --updates {} --server {} --seed {}",
                     scene.use.spec(), (here / "updates.npy").string(),
                     (here / "server.npy").string(), scene.seed);
}

void save(const Scene& scene, const Judgement& judgement, const fs::path& folder) {
  fs::create_directories(folder);
  visit(scene.dtype, [&]<Element T>(T) {
    write_file(folder / "updates.npy", npy<T>(scene.updates));
    write_file(folder / "server.npy", npy<T>(scene.server));
  });
  write_file(folder / "loss.npy", npy<double>({scene.model, scene.curvature, scene.centre}));
  std::string text = fmt::format(
      "rule: {}\nf: {}\nclasses: {}\nbucket: {}\nkeep: {}\nlambda: {}\ndtype: {}\nbackend: {}\nn: "
      "{}\nc: {}\n"
      "d: {}\nliars: {}\nseed: {}\neta: {}\n",
      scene.use.rule, scene.use.f, scene.use.classes, scene.use.bucket, scene.use.keep ? 1 : 0,
      scene.use.lambda, name(scene.dtype), static_cast<int>(scene.backend), scene.updates.size(),
      scene.server.size(), scene.length(), listed(scene.liar), scene.seed, scene.eta);
  text += fmt::format(
      "\nspec: {}\nrun on: {}\nstory: {}\nscore: {:.4g}\ndeviation: {:.4g}, exact {:.4g}\n",
      scene.use.spec(), name(scene.backend), scene.story, judgement.score,
      judgement.engine_deviation, judgement.oracle_deviation);
  text += fmt::format("note: {}\nerror: {}\n\n{}\n", judgement.note, judgement.error,
                      command_of(scene, "."));
  write_file(folder / "round.txt", text);
}

Scene load(const fs::path& folder) {
  std::map<std::string, std::string> values;
  std::istringstream text(read_file(folder / "round.txt"));
  for (std::string line; std::getline(text, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) values.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  const auto number = [&](const char* key) {
    return static_cast<std::size_t>(std::stoull(values.at(key)));
  };
  Scene scene;
  scene.use = {.rule = values.at("rule"),
               .f = number("f"),
               .classes = number("classes"),
               .bucket = number("bucket"),
               .keep = number("keep") == 1,
               .lambda = std::stod(values.at("lambda"))};
  scene.dtype = values.at("dtype") == name(DType::kFloat32) ? DType::kFloat32 : DType::kFloat64;
  scene.backend = static_cast<Backend>(number("backend"));
  scene.seed = number("seed");
  scene.eta = std::stod(values.at("eta"));
  scene.story = values.at("story");
  for (char c : values.at("liars")) scene.liar.push_back(c == '1');
  const std::size_t d = number("d");
  visit(scene.dtype, [&]<Element T>(T) {
    scene.updates = rows_of<T>(folder / "updates.npy", number("n"), d);
    scene.server = rows_of<T>(folder / "server.npy", number("c"), d);
  });
  Rows loss = rows_of<double>(folder / "loss.npy", 3, d);
  scene.model = std::move(loss[0]);
  scene.curvature = std::move(loss[1]);
  scene.centre = std::move(loss[2]);
  return scene;
}

}  // namespace boba::hunt
