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

// What a value costs. A list or map counts as one value in addition to its
// elements.
struct Weight {
  int64_t value_count = 0;
  // Bytes of keys and strings.
  int64_t text_bytes = 0;
  // Nesting of lists and maps.
  int depth = 0;
};

Weight Weigh(const Value& value);

// Takes the events of one document in order: leaves, keys, and the begin and
// end of lists and maps. ResourceExhausted above the limits of nesting, values
// and text; InvalidArgument for a repeated key. Messages name the limit or the
// key, but not the location. Lines count from 1; 0: unknown.
class TreeBuilder {
 public:
  // `max_text_bytes`: limit for all keys and strings together.
  explicit TreeBuilder(int64_t max_text_bytes)
      : max_text_bytes_(max_text_bytes) {}

  // Whether the next event must be a key or the end of a map.
  bool wants_key() const;

  absl::Status Key(std::string key, int line);
  // Adds a complete value: a leaf, or a copy of a tree with this weight.
  absl::Status Add(Value value, const Weight& weight, int line);
  absl::Status Leaf(Value value, int line);
  absl::Status BeginList(int line) { return Begin(Value::List(), line); }
  absl::Status BeginMap(int line) { return Begin(Value::Map(), line); }
  // Ends the innermost list or map. The result is valid until the next event.
  const Value& End();

  // Counts data that is stored outside of the tree towards the limits.
  absl::Status Charge(const Weight& weight);

  // The document; null if it was empty.
  Value Take() { return std::move(root_); }

 private:
  // A list or map that has begun, but not ended.
  struct Open {
    Value value;
    // The keys so far, with their lines.
    absl::flat_hash_map<std::string, int> keys;
    std::string key;
    int key_line = 0;
    bool has_key = false;
  };

  absl::Status Begin(Value container, int line);
  // Adds a complete value to the innermost list or map.
  const Value& Place(Value value);

  const int64_t max_text_bytes_;
  Value root_;
  std::vector<Open> open_;
  Weight total_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_TREE_BUILDER_H_
