// boba aggregate under mpirun: every rank maps the files and reads its columns only.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "boba/capi/boba.h"
#include "boba/dist/launch.h"
#include "boba/dist/sharded.h"
#include "tools/aggregate.h"
#include "tools/json.h"
#include "tools/shared_output.h"

namespace boba::tools {
namespace {

// The round's columns of one rank.
struct RoundPart {
  RoundPart(const Round& whole, const Shard& shard)
      : updates(RowList(whole.updates).columns(shard.first, shard.length)),
        server(RowList(whole.server).columns(shard.first, shard.length)),
        round(whole) {
    round.updates = updates.view();
    if (!whole.server.empty()) round.server = server.view();
  }

  RowList updates;
  RowList server;
  Round round;
};

// What ranks with columns do. The result is the same on all of them.
class RankedRun {
 public:
  RankedRun(const AggregateOptions& options, const Aggregator& rule, const Communicator& ranks,
            const RoundFiles& files, std::optional<Memory>& memory)
      : options_(options),
        rule_(rule),
        ranks_(ranks),
        files_(files),
        memory_(memory),
        whole_(files.round()),
        shard_(shard_of(whole_.updates.length(), ranks.rank(), ranks.size())) {}

  Result<void> run() {
    const RoundPart part(whole_, shard_);
    const int threads = options_.threads > 0 ? options_.threads : threads_of(launched());
    const auto plain = make_sharded_kernels(ranks_, whole_.updates.length(),
                                            {.threads = threads, .simd = common_simd(ranks_)});
    const Result<std::uint64_t> seed = plain->secret_seed();
    if (!seed) return seed.error();
    const auto sketched = sketch_kernels(options_, *plain, *seed);
    if (!sketched) return sketched.error();
    const Kernels* kernels = *sketched ? sketched->get() : plain.get();
    UpdateMatrix out(whole_.updates.dtype(), 1, shard_.length);
    const auto begin = std::chrono::steady_clock::now();
    Result<Verdict> verdict =
        rule_.aggregate(*kernels, part.round, out.row(0), memory_ ? &*memory_ : nullptr);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (Result<void> same = agree(ranks_, files_.unchanged()); !same) return same;
    const std::string told = verdict ? print_json(to_json(*verdict)) : verdict.error().message;
    if (!all_same(ranks_, told)) {
      return Error{ErrorCode::kInternal,
                   "the ranks came to different verdicts: their machines compute differently"};
    }
    if (!verdict) return verdict.error();
    return write({*std::move(verdict), kernels->name(), seconds.count()}, out.view());
  }

 private:
  Result<void> write(const AggregateRun& run, const UpdateView& aggregate) {
    SharedNpy out(ranks_);
    if (!options_.out.empty()) {
      const Result<void> written =
          out.write(options_.out, aggregate, shard_.first, whole_.updates.length());
      if (!written) return written;
    }
    return agree(ranks_, ranks_.rank() == 0 ? finish(run, out) : Result<void>());
  }

  // Rank 0: the report and the memory, and all files appear.
  Result<void> finish(const AggregateRun& run, SharedNpy& out) {
    Result<std::optional<OutputFile>> report = make_report(options_, run);
    if (!report) return report.error();
    Result<std::optional<OutputFile>> remembered = make_memory(options_, memory_);
    if (!remembered) return remembered.error();
    if (Result<void> done = out.commit(); !done) return done;
    for (std::optional<OutputFile>* file : {&*report, &*remembered}) {
      if (!file->has_value()) continue;
      if (Result<void> done = (*file)->commit(); !done) return done;
    }
    if (options_.out.empty() && options_.report.empty()) {
      print_summary(run, whole_);
    } else {
      print_written(options_, run);
    }
    return {};
  }

  const AggregateOptions& options_;
  const Aggregator& rule_;
  const Communicator& ranks_;
  const RoundFiles& files_;
  std::optional<Memory>& memory_;
  const Round whole_;
  Shard shard_;
};

Result<void> check_paths(const AggregateOptions& options) {
  Result<void> good;
  if (!options.out.empty()) good = check_shared_output(options.out);
  for (const std::string& path : {options.report, options.memory}) {
    if (good && !path.empty()) good = check_writable(path);
  }
  return good;
}

// What every rank must have alike; files may have other names where machines differ.
std::string settings_text(const AggregateOptions& options) {
  return fmt::format("{}\n{}\n{}\n{}\n{:a}\n{} {} {} {} {}", boba_version(), options.rule,
                     options.gram, options.seed ? std::to_string(*options.seed) : "secret",
                     fmt::join(options.server_counts, " "), options.server.empty(),
                     options.out.empty(), options.report.empty(), options.ids.empty(),
                     options.memory.empty());
}

// Whether all ranks have the same numbers there, as far as samples tell: the first and the last
// bytes of every row, and some in between, at another place in each row. A rank that read all of
// them would undo what the ranks save.
bool same_numbers(const Communicator& ranks, const UpdateView& rows) {
  constexpr std::size_t kSample = 64;
  constexpr std::size_t kRows = 4096;  // at a time
  std::string samples;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto bytes = visit(rows.dtype(), [&]<Element T>(T) {
      return std::as_bytes(std::span(rows.row<T>(i), rows.length()));
    });
    const std::string_view row(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t last = row.size() - std::min(kSample, row.size());
    // Multiples of the golden ratio: evenly spread.
    const std::size_t between = (i * 0x9e3779b97f4a7c15 >> 16) % (last + 1);
    for (const std::size_t at : {std::size_t{0}, between, last}) samples += row.substr(at, kSample);
    if ((i + 1) % kRows != 0 && i + 1 != rows.rows()) continue;
    if (!all_same(ranks, samples)) return false;
    samples.clear();
  }
  return true;
}

Result<void> aggregate_together(const AggregateOptions& options, const Aggregator& rule,
                                const Communicator& ranks) {
  if (!all_same(ranks, settings_text(options))) {
    return invalid_argument(
        fmt::format("the ranks were started with different options, or are different versions of "
                    "boba; rank 0 has the rule {} and is version {}",
                    options.rule, boba_version()));
  }
  Result<void> good = ranks.rank() == 0 ? check_paths(options) : Result<void>();
  if (good = agree(ranks, good); !good) return good;
  const Result<RoundFiles> files = RoundFiles::open(options);
  good = files ? check(files->round()) : Result<void>(files.error());
  if (good = agree(ranks, good); !good) return good;
  const Round round = files->round();
  const std::string shape =
      fmt::format("{} {}", describe_shape(round.updates), describe_shape(round.server));
  if (!all_same(ranks, shape)) {
    return Error{ErrorCode::kIo, fmt::format("the ranks see different files; rank 0 has {} of {}",
                                             options.updates, describe_shape(round.updates))};
  }
  for (const auto& [rows, path] :
       {std::pair{&round.updates, &options.updates}, std::pair{&round.server, &options.server}}) {
    if (same_numbers(ranks, *rows)) continue;
    return Error{
        ErrorCode::kIo,
        fmt::format("the ranks see different numbers in files of one shape; rank 0 has {}; "
                    "give all ranks copies of one file",
                    *path)};
  }
  Result<std::optional<Memory>> memory = read_memory(options, rule);
  if (good = agree(ranks, memory ? Result<void>() : Result<void>(memory.error())); !good) {
    return good;
  }
  const std::string known = fmt::format("{}\n{}", fmt::join(round.ids, "\n"),
                                        *memory ? (*memory)->save() : std::string());
  if (!all_same(ranks, known)) {
    return Error{ErrorCode::kIo, "the ranks see different files of --ids or --memory"};
  }
  // Ranks without columns wait for the outcome.
  const auto team = ranks.first(ranks_in_use(round.updates.length(), ranks.size()));
  Result<void> done;
  if (team) done = RankedRun(options, rule, *team, *files, *memory).run();
  return agree(ranks, done);
}

}  // namespace

Outcome aggregate_on_ranks(const AggregateOptions& options, const Aggregator& rule,
                           const Communicator& ranks) {
  const Result<void> done = aggregate_together(options, rule, ranks);
  if (!done) return failed(done.error());
  return {};
}

}  // namespace boba::tools
