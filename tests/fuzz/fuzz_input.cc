#include "tests/fuzz/fuzz_input.h"

#include <glog/logging.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

// Below it, a byte is a number itself; above, it counts these, and then comes
// any.
constexpr uint8_t kSmall = 200;
constexpr std::array<uint64_t, 20> kBorders = {
    255,
    256,
    INT32_MAX - 1,
    INT32_MAX,
    uint64_t{INT32_MAX} + 1,
    UINT32_MAX - 1,
    UINT32_MAX,
    uint64_t{UINT32_MAX} + 1,
    uint64_t{1} << 40,
    uint64_t{1} << 53,
    (uint64_t{1} << 62) - 1,
    uint64_t{1} << 62,
    INT64_MAX - 1,
    INT64_MAX,
    uint64_t{INT64_MAX} + 1,
    uint64_t{INT64_MAX} + 2,
    UINT64_MAX - 100'000,
    UINT64_MAX - 64,
    UINT64_MAX - 1,
    UINT64_MAX,
};

}  // namespace

uint8_t FuzzInput::Byte() {
  if (rest_.empty()) return 0;
  const auto byte = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

uint64_t FuzzInput::Word() {
  uint64_t word = 0;
  const size_t size = std::min(rest_.size(), sizeof(word));
  std::memcpy(&word, rest_.data(), size);
  rest_.remove_prefix(size);
  return word;
}

uint64_t FuzzInput::Number() {
  const uint8_t byte = Byte();
  if (byte < kSmall) return byte;
  const size_t border = byte - kSmall;
  return border < kBorders.size() ? kBorders[border] : Word();
}

double FuzzInput::Real() {
  using Limits = std::numeric_limits<double>;
  const uint8_t byte = Byte();
  switch (byte) {
    case 255:
      return Limits::quiet_NaN();
    case 254:
      return Limits::infinity();
    case 253:
      return -Limits::infinity();
    case 252:
      return Limits::max();
    case 251: {
      const uint64_t word = Word();
      double real = 0;
      std::memcpy(&real, &word, sizeof(real));
      return real;
    }
    default:
      return byte - 100.0;
  }
}

std::string FuzzInput::Text() {
  // Its own statement: arguments are computed in any order.
  const size_t most = Byte();
  const size_t size = std::min(most, rest_.size());
  std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

std::string PathOf(absl::string_view content) {
  static const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  PCHECK(fd >= 0 && ftruncate(fd, 0) == 0);
  PCHECK(pwrite(fd, content.data(), content.size(), 0) ==
         static_cast<ssize_t>(content.size()));
  return absl::StrCat("/proc/self/fd/", fd);
}

std::string FolderWith(const std::string& name, absl::string_view content) {
  static const std::string folder = [] {
    std::string made = std::filesystem::temp_directory_path() / "fuzz.XXXXXX";
    PCHECK(mkdtemp(made.data()) != nullptr);
    return made;
  }();
  std::ofstream(folder + "/" + name, std::ios::trunc) << content;
  return folder;
}

}  // namespace paceline

// What libFuzzer calls: this first, as what the code logs would drown what it
// finds, and then the other one again and again.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  FLAGS_minloglevel = google::FATAL;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  paceline::Fuzz(paceline::FuzzInput(data, size));
  return 0;
}
