// How the examples of a source lie in its files.
#ifndef PACELINE_COMMON_DATA_SOURCE_FILE_LAYOUT_H_
#define PACELINE_COMMON_DATA_SOURCE_FILE_LAYOUT_H_

#include <cstdint>
#include <vector>

namespace paceline {

// The examples [begin, end) of a source.
struct ExampleSpan {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const ExampleSpan&) const = default;
};

// The files of a source, whose examples follow each other. By default there is
// one, which is also what arrays are that lie in files of their own.
struct FileLayout {
  // Whether each example is a file of its own; then there are no `begins`.
  bool has_file_per_example = false;
  // The first example of each file, ascending from 0. A file without examples
  // begins where the next one does, or at the end.
  std::vector<int64_t> begins = {0};

  // How many files have at least one of the first `count` examples.
  int64_t FilesWithin(int64_t count) const;
  // What these files have of the first `count` examples, unless each example is
  // a file.
  std::vector<ExampleSpan> SpansWithin(int64_t count) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_FILE_LAYOUT_H_
