// How the values of an example lie in one piece of memory.
#ifndef PACELINE_COMMON_DATA_SOURCE_EXAMPLE_LAYOUT_H_
#define PACELINE_COMMON_DATA_SOURCE_EXAMPLE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/data_source/data_source.h"

namespace paceline {

// All examples of a source take as many bytes: the arrays of features, of
// labels and of weights one behind the other, in their stored types, each
// aligned to 8 bytes. Immutable; thread-safe.
class ExampleLayout {
 public:
  explicit ExampleLayout(const ExampleSpec& spec);

  // Of an example; a multiple of 8, and at least 8.
  int64_t bytes() const { return bytes_; }

  // An example with these arrays, whose values are nowhere yet.
  Example MakeExample() const;
  // Points `example`, which is of MakeExample, to the values at `at`, which is
  // aligned to 8 bytes.
  void Point(const std::byte* at, Example& example) const;
  // Copies the values to `at`; does not touch the bytes between arrays.
  void Copy(const Example& example, std::byte* at) const;

 private:
  struct Array {
    ElementType type = ElementType::kUint8;
    int64_t count = 0;
    int64_t offset = 0;
  };
  std::vector<Array> Place(const std::vector<ArraySpec>& specs);

  int64_t bytes_ = 0;
  const ByArray<Array> arrays_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_EXAMPLE_LAYOUT_H_
