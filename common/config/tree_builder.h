// Builds a Value from the events of a parser, within limits.
#ifndef PACELINE_COMMON_CONFIG_TREE_BUILDER_H_
#define PACELINE_COMMON_CONFIG_TREE_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/config/value.h"

namespace paceline {

// What a value costs. Lists and maps count as one value beside their elements.
struct Weight {
  int64_t value_count = 0;
  // Of keys and strings.
  int64_t text_bytes = 0;
  // Lists and maps inside each other.
  int depth = 0;
};

Weight Weigh(const Value& value);

// Takes the events of one document in order: leaves, keys, and lists and maps
// that begin and end. ResourceExhausted above the limits on nesting, values and
// text; InvalidArgument for a repeated key. Messages name the limit or the key,
// not the line. Lines count from 1; 0 if unknown.
class TreeBuilder {
 public:
  // `max_text_bytes` bounds all keys and strings together.
  explicit TreeBuilder(int64_t max_text_bytes)
      : max_text_bytes_(max_text_bytes) {}

  // Whether the next event inside a map must be a key or its end.
  bool wants_key() const;

  absl::Status Key(std::string key, int line);
  // A whole value: a leaf, or a copy of a tree of that weight.
  absl::Status Add(Value value, const Weight& weight, int line);
  absl::Status Leaf(Value value, int line);
  absl::Status BeginList(int line) { return Begin(Value::List(), line); }
  absl::Status BeginMap(int line) { return Begin(Value::Map(), line); }
  // Ends the innermost list or map, which stays valid until the next event.
  const Value& End();

  // Counts something that is kept beside the tree against the limits.
  absl::Status Charge(const Weight& weight);

  // The document; null if there was none.
  Value Take() { return std::move(root_); }

 private:
  // A list or map that has begun.
  struct Open {
    Value value;
    // Lines of the keys so far.
    absl::flat_hash_map<std::string, int> keys;
    std::string key;
    int key_line = 0;
    bool has_key = false;
  };

  absl::Status Begin(Value container, int line);
  // Puts a whole value where it belongs.
  const Value& Place(Value value);

  const int64_t max_text_bytes_;
  Value root_;
  std::vector<Open> open_;
  Weight total_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_TREE_BUILDER_H_
