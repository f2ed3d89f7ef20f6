// Paths of values in a configuration, and errors with paths.
#ifndef PACELINE_COMMON_CONFIG_PATH_H_
#define PACELINE_COMMON_CONFIG_PATH_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/config/value.h"

namespace paceline {

// "model.layers[3].filters". A default-constructed path is the root.
class Path {
 public:
  Path() = default;
  explicit Path(std::string text) : text_(std::move(text)) {}

  Path Key(absl::string_view key) const;
  Path Index(size_t index) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// An error "<path>: <message>". It carries the path, so that a caller that has
// the document can add the line by Locate, even if the wrong value was read
// from a message without line numbers.
absl::Status ConfigError(
    const Path& path, absl::string_view message,
    absl::StatusCode code = absl::StatusCode::kInvalidArgument);

// Adds "<source>:<line>: " to an error, where the line is that of the error's
// path in `document`, or of the nearest value above it. Adds "<source>: " if
// there is no path or no line.
absl::Status Locate(const absl::Status& error, absl::string_view source,
                    const Value& document);

// The line of a path in a document, or of the nearest value above it. In paths,
// the config keys of a Keras object follow the object directly, whatever form
// it has in the document: layers[3].filters also finds `- Conv2D: {filters:
// 32}`.
int FindLine(const Value& document, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_PATH_H_
