// Where a value stands in a configuration, and errors that say so.
#ifndef PACELINE_COMMON_CONFIG_PATH_H_
#define PACELINE_COMMON_CONFIG_PATH_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/config/value.h"

namespace paceline {

// "model.layers[3].filters". A default path is the root.
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

// "<path>: <message>". Errors carry their path, so that a reader that knows the
// document adds the line with Locate, although the object at fault was read
// from a message that has no lines.
absl::Status ConfigError(
    const Path& path, absl::string_view message,
    absl::StatusCode code = absl::StatusCode::kInvalidArgument);

// The error with "<source>:<line>: " in front, from its path in `document`, or
// of the nearest value above it. "<source>: " if it has no path or no line.
absl::Status Locate(const absl::Status& error, absl::string_view source,
                    const Value& document);

// The line of a path in a document, or of the nearest value above it. A Keras
// object's config keys follow its path at once, whichever form it is written
// in: layers[3].filters is found in `- Conv2D: {filters: 32}`.
int FindLine(const Value& document, const Path& path);

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_PATH_H_
