#include "tests/layers/layers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace boba {
namespace {

std::string joined(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text += fault + "\n";
  return text;
}

std::vector<Source> tree(const std::vector<std::string>& folders) {
  return read_sources(BOBA_SOURCE_DIR, folders);
}

bool is_build_file(const Source& source) { return source.path.ends_with("CMakeLists.txt"); }

TEST(Layers, IncludesFollowTheTable) {
  std::size_t read = 0;
  for (const Source& source : tree({"boba", "simulator", "reproduction", "tools", "python"})) {
    if (is_build_file(source)) continue;
    ++read;
    EXPECT_EQ(joined(include_faults(source.path, source.text)), "");
  }
  EXPECT_GT(read, 20u) << "the sources were not found below " << BOBA_SOURCE_DIR;
}

TEST(Layers, TheInterfaceNeedsNoLibraryOfTheInside) {
  EXPECT_EQ(joined(interface_faults(tree({"boba"}))), "");
}

TEST(Layers, LinksFollowTheTable) {
  std::size_t read = 0;
  for (const Source& source : tree({"boba", "simulator", "reproduction"})) {
    if (!is_build_file(source) || source.path == "boba/CMakeLists.txt" ||
        source.path == "simulator/CMakeLists.txt") {
      continue;
    }
    ++read;
    EXPECT_EQ(joined(link_faults(source.path, source.text)), "");
  }
  EXPECT_GE(read, 6u);
}

TEST(Layers, SourcesKeepTheHouseStyle) {
  for (const Source& source :
       tree({"boba", "simulator", "reproduction", "tools", "tests", "fuzz", "bench", "python"})) {
    if (is_build_file(source)) continue;
    EXPECT_EQ(joined(style_faults(source.path, source.text)), "");
  }
}

// The rest makes up violations: a check that cannot fail checks nothing.

struct Case {
  const char* path;
  const char* text;
};

TEST(LayersSelfTest, ForbiddenIncludesAreFound) {
  for (const Case& c : {
           Case{"boba/core/a.cc", "#include \"boba/rules/krum.h\"\n"},
           Case{"boba/core/a.h", "#include \"boba/kernels/cpu/cpu.h\"\n"},
           Case{"boba/core/a.cc", "#include <Eigen/Dense>\n"},
           Case{"boba/core/a.cc", "#include <nlohmann/json.hpp>\n"},
           Case{"boba/core/a.cc", "#include \"tools/cli.h\"\n"},
           Case{"boba/core/a.cc", "#include \"views.h\"\n"},
           Case{"boba/core/a.cc", "#include \"../core/views.h\"\n"},
           Case{"boba/core/a.cc", "  #  include <unistd.h>\n"},
           Case{"boba/core/a.cc", "#include <random>\n"},
           Case{"boba/core/a.cc", "#include HEADER\n"},
           Case{"boba/core/a.cc", "#include\n"},
           Case{"boba/core/a.cc", "#include <vector\n"},
           Case{"boba/kernels/cpu/a.cc", "#include \"boba/rules/krum.h\"\n"},
           Case{"boba/kernels/cpu/a.cc", "#include \"boba/kernels/reference/reference.h\"\n"},
           Case{"boba/kernels/cpu/a.cc", "#include <cblas.h>\n"},
           Case{"boba/core/a.cc", "#include <immintrin.h>\n"},
           Case{"boba/kernels/reference/a.cc", "#include \"boba/kernels/cpu/cpu.h\"\n"},
           Case{"boba/rules/krum.cc", "#include \"boba/kernels/cpu/cpu.h\"\n"},
           Case{"boba/rules/krum.cc", "#include \"boba/attacks/registry.h\"\n"},
           Case{"boba/rules/krum.cc", "#include <CLI/CLI.hpp>\n"},
           Case{"boba/attacks/lie.cc", "#include \"boba/rules/krum.h\"\n"},
           Case{"boba/capi/boba.cc", "#include <Eigen/Core>\n"},
           Case{"boba/capi/boba.cc", "#include <nlohmann/json.hpp>\n"},
           Case{"boba/capi/boba.cc", "#include \"tools/cli.h\"\n"},
           Case{"boba/core/a.cc", "#include \"boba/boba.h\"\n"},
           Case{"boba/boba.h", "#include \"boba/capi/boba.h\"\n"},
           Case{"boba/rules/krum.cc", "#include \"simulator/data/dataset.h\"\n"},
           Case{"simulator/store/a.cc", "#include \"simulator/train/runner.h\"\n"},
           Case{"simulator/train/a.cc", "#include \"reproduction/goals.h\"\n"},
           Case{"boba/nowhere/a.cc", "#include <vector>\n"},
           Case{"tools/main.cc", "#include <torch/torch.h>\n"},
           Case{"tools/main.cc", "#include \"tests/support/matchers.h\"\n"},
       }) {
    EXPECT_EQ(include_faults(c.path, c.text).size(), 1u) << c.path << ": " << c.text;
  }
}

TEST(LayersSelfTest, AllowedIncludesPass) {
  for (const Case& c : {
           Case{"boba/core/a.h", "#include <vector>\n#include \"boba/core/views.h\"\n"},
           Case{"boba/core/a.cc", "#include <fmt/format.h>\n"},
           Case{"boba/core/a.cc", "// #include <Eigen/Dense>\n"},
           Case{"boba/kernels/cpu/a.cc", "#include \"boba/kernels/cpu/tile.h\"\n"},
           Case{"boba/kernels/cpu/a.cc", "#include <immintrin.h>\n"},
           Case{"boba/rules/krum.cc", "#include <Eigen/Dense>\n#include \"boba/core/rule.h\"\n"},
           Case{"boba/capi/boba.h", "#include <stddef.h>\n"},
           Case{"boba/capi/boba.cc", "#include \"boba/kernels/cpu/cpu.h\"\n"},
           Case{"tools/main.cc", "#include <CLI/CLI.hpp>\n#include \"boba/capi/boba.h\"\n"},
           Case{"tools/npy.cc", "#include <sys/mman.h>\n#include \"tools/npy.h\"\n"},
       }) {
    EXPECT_EQ(joined(include_faults(c.path, c.text)), "");
  }
}

TEST(LayersSelfTest, AFaultNamesFileLineAndHeader) {
  const auto faults =
      include_faults("boba/core/a.cc", "#include <vector>\n\n#include <Eigen/Core>");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0], "boba/core/a.cc:3: <Eigen/Core>: boba/core/ may not use this library");
}

TEST(LayersSelfTest, TheInterfaceIsFollowedThroughItsIncludes) {
  const Source rule = {"boba/rules/krum.h",
                       "static constexpr Info info();\n#include \"boba/rules/inner.h\"\n"};
  const Source inner = {"boba/rules/inner.h", "#include <vector>\n#include <Eigen/Core>\n"};
  EXPECT_EQ(joined(interface_faults({rule, inner})),
            "boba/rules/inner.h: <Eigen/Core>: a header of the interface may not use this "
            "library\n");
  EXPECT_EQ(joined(interface_faults({inner})), "");
  EXPECT_EQ(interface_faults({{rule.path, rule.text + inner.text}}).size(), 1u);
}

TEST(LayersSelfTest, StyleFaultsAreFound) {
  EXPECT_EQ(style_faults("boba/core/a.h", "int x;\n").size(), 1u);
  EXPECT_EQ(style_faults("boba/core/a.h", "#pragma once\n").size(), 0u);
  EXPECT_EQ(style_faults("boba/core/a.cc", "int x;\n").size(), 0u);
  EXPECT_EQ(style_faults("boba/core/a.cc", "\tint x;\n").size(), 1u);
  EXPECT_EQ(style_faults("boba/core/a.cc", "int x;\r\n").size(), 1u);
  std::string lines;
  for (int i = 0; i < 600; ++i) lines += "//\n";
  EXPECT_EQ(style_faults("boba/core/a.cc", lines).size(), 0u);
  EXPECT_EQ(joined(style_faults("boba/core/a.cc", lines + "//\n")),
            "boba/core/a.cc: 601 lines; at most 600\n");
}

TEST(LayersSelfTest, ForbiddenLinksAreFound) {
  const std::string path = "boba/rules/CMakeLists.txt";
  EXPECT_EQ(joined(link_faults(path, "boba_folder(rules LINKS boba_core Eigen3::Eigen)\n")), "");
  EXPECT_EQ(joined(link_faults(path, "boba_folder(rules\n LINKS boba_core\n boba_kernels_cpu)\n")),
            "boba/rules/CMakeLists.txt: boba/rules/ may not link boba_kernels_cpu\n");
  EXPECT_EQ(link_faults("boba/nowhere/CMakeLists.txt", "").size(), 1u);
}

}  // namespace
}  // namespace boba
