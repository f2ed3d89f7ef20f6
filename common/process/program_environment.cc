#include "common/process/program_environment.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace paceline {
namespace {

constexpr absl::string_view kSafeNames[] = {"PATH",
                                            "HOME",
                                            "USER",
                                            "TMPDIR",
                                            "TZ",
                                            "LANG",
                                            "VIRTUAL_ENV",
                                            "LD_LIBRARY_PATH",
                                            "CUDA_VISIBLE_DEVICES",
                                            "PACELINE_COORDINATOR"};
constexpr absl::string_view kSafePrefixes[] = {"LC_", "PYTHON"};

bool IsSafe(absl::string_view variable) {
  const absl::string_view name = variable.substr(0, variable.find('='));
  return std::find(std::begin(kSafeNames), std::end(kSafeNames), name) !=
             std::end(kSafeNames) ||
         std::any_of(std::begin(kSafePrefixes), std::end(kSafePrefixes),
                     [&](absl::string_view prefix) {
                       return absl::StartsWith(name, prefix);
                     });
}

}  // namespace

std::vector<std::string> WholeEnvironment(const char* const* environment) {
  std::vector<std::string> variables;
  for (; *environment != nullptr; ++environment) {
    variables.emplace_back(*environment);
  }
  return variables;
}

std::vector<std::string> SafeEnvironment(const char* const* environment) {
  std::vector<std::string> variables = WholeEnvironment(environment);
  std::erase_if(variables,
                [](const std::string& each) { return !IsSafe(each); });
  return variables;
}

}  // namespace paceline
