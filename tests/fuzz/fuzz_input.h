// Interprets a fuzzer's bytes as input from a peer.
#ifndef PACELINE_TESTS_FUZZ_FUZZ_INPUT_H_
#define PACELINE_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace paceline {

// Reads from the front. Past the end all bytes are zero.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool is_empty() const { return rest_.empty(); }
  absl::string_view rest() const { return rest_; }

  uint8_t Byte();
  // Below `bound`, which is positive.
  uint32_t Below(uint32_t bound) { return Byte() % bound; }
  // A small number, or one at the limits of an integer type, selected by one
  // byte; or any number, from 8 more bytes.
  uint64_t Number();
  // The same for doubles, including NaN and infinities.
  double Real();
  // At most 255 bytes.
  std::string Text();

 private:
  uint64_t Word();

  absl::string_view rest_;
};

// The entry point that each fuzzer defines. Returns unless it finds a bug.
void Fuzz(FuzzInput input);

// Writes the content to a file and returns its path. The next call overwrites
// it.
std::string PathOf(absl::string_view content);
// Returns a folder, always the same, with a file `name` of this content.
std::string FolderWith(const std::string& name, absl::string_view content);

}  // namespace paceline

#endif  // PACELINE_TESTS_FUZZ_FUZZ_INPUT_H_
