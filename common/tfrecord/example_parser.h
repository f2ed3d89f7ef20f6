// Finds features in a serialized tf.train.Example, without a copy.
//
//   message Example     { Features features = 1; }
//   message Features    { map<string, Feature> feature = 1; }
//   message Feature     { oneof kind { BytesList bytes_list = 1;
//                                      FloatList float_list = 2;
//                                      Int64List int64_list = 3; } }
//
// Source: tensorflow/core/example/{example,feature}.proto. Protobuf's own
// parser would allocate each string and each entry of the map; a record is
// parsed for each example of each step.
#ifndef PACELINE_COMMON_TFRECORD_EXAMPLE_PARSER_H_
#define PACELINE_COMMON_TFRECORD_EXAMPLE_PARSER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// The numbers are those of the fields above.
enum class FeatureKind { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

// "bytes_list".
const char* FeatureKindName(FeatureKind kind);

// A list of values, as it is serialized (feature_values.h reads it). An example
// may lack a feature, or the feature may have no list: kNone.
struct FeatureList {
  FeatureKind kind = FeatureKind::kNone;
  absl::string_view bytes;
};

// Not thread-safe.
class ExampleParser {
 public:
  // Looks for features of these names.
  explicit ExampleParser(std::vector<std::string> names)
      : names_(std::move(names)), features_(names_.size()) {}

  // InvalidArgument if the record is no Example. As in TensorFlow, the last of
  // several features of one name counts.
  absl::Status Parse(absl::string_view record);

  // Feature `index` of `names` in the record, valid as long as the record.
  const FeatureList& feature(size_t index) const { return features_[index]; }

 private:
  absl::Status ParseEntry(absl::string_view bytes);

  std::vector<std::string> names_;
  std::vector<FeatureList> features_;
};

// The names of the record's features, `limit` at most, whatever the features
// are. None if there is no map of them.
std::vector<std::string> FeatureNames(absl::string_view record, size_t limit);

}  // namespace paceline

#endif  // PACELINE_COMMON_TFRECORD_EXAMPLE_PARSER_H_
