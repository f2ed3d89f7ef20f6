// The bytes of a fuzzer, read as what a peer could send.
#ifndef PACELINE_TESTS_FUZZ_FUZZ_INPUT_H_
#define PACELINE_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// Reads from the front. Past the end all is zero.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool is_empty() const { return rest_.empty(); }
  absl::string_view rest() const { return rest_; }

  uint8_t Byte();
  // Below `bound`, which is positive.
  uint32_t Below(uint32_t bound) { return Byte() % bound; }
  // One byte tells a small number or one at the border of a type; or that any
  // follows, in 8 bytes.
  uint64_t Number();
  // The same of a double; NaN and infinities are among them.
  double Real();
  // At most 255 bytes.
  std::string Text();

 private:
  uint64_t Word();

  absl::string_view rest_;
};

// What a fuzzer does with its bytes: each has one of its own. Returns unless it
// found a bug.
void Fuzz(FuzzInput input);

// A file with this content, for code that wants a path; the next call changes
// it.
std::string PathOf(absl::string_view content);
// A folder, the same at each call, with a file `name` of this content.
std::string FolderWith(const std::string& name, absl::string_view content);

}  // namespace paceline

#endif  // PACELINE_TESTS_FUZZ_FUZZ_INPUT_H_
