// The machine's hardware according to the kernel, for tests that must not ask
// the code under test.
#ifndef PACELINE_TESTS_MACHINE_H_
#define PACELINE_TESTS_MACHINE_H_

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "glog/logging.h"

namespace paceline {

// Whether the processor has AVX512-BF16. All processors with AMX have it.
inline bool ProcessorHasBFloat16() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(!text.empty()) << "/proc/cpuinfo cannot be read";
  return absl::StrContains(text, " avx512_bf16");
}

// Whether there is a device file such as /dev/nvidia0, which a process opens to
// use an NVIDIA GPU.
inline bool MachineHasGpu() {
  for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
    const std::string name = entry.path().filename().string();
    absl::string_view number = name;
    if (absl::ConsumePrefix(&number, "nvidia") && !number.empty() &&
        std::all_of(number.begin(), number.end(), absl::ascii_isdigit)) {
      return true;
    }
  }
  return false;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_MACHINE_H_
