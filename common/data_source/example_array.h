// An array of a source that is a feature of tf.train.Examples.
#ifndef PACELINE_COMMON_DATA_SOURCE_EXAMPLE_ARRAY_H_
#define PACELINE_COMMON_DATA_SOURCE_EXAMPLE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/data_source/data_source.h"
#include "common/data_source/element.h"
#include "common/data_source/example_feature.h"
#include "common/image/image_decoder.h"
#include "common/image/image_loader.h"
#include "common/tfrecord/example_parser.h"

namespace paceline {

struct ExampleArray {
  // The feature's name.
  std::string feature;
  FeatureKind kind = FeatureKind::kNone;
  // A float_list has float32, an int64_list has int64; a bytes_list has one
  // string with all values, or with an encoded image.
  ArraySpec spec;
  // See ExampleFeature.
  std::vector<std::string> class_names = {};
  // Of encoded images. If they are not resized, all have the form's size.
  std::optional<ImageForm> image = std::nullopt;
  bool is_resized = false;
};

// What the feature is, after the first example, which has `list`. The caller
// sets the spec's name and origin, and the names of classes. InvalidArgument
// names the feature.
absl::StatusOr<ExampleArray> DescribeFeature(const ExampleFeature& feature,
                                             const FeatureList& list);

// Reads the array's values of one example after another. Not thread-safe.
class ExampleArrayReader {
 public:
  explicit ExampleArrayReader(ExampleArray array);

  // The values, which are valid until the next call, and as long as the list.
  // InvalidArgument names the feature, what it has, and what is expected.
  absl::StatusOr<Elements> Read(const FeatureList& list);

 private:
  absl::StatusOr<Elements> ReadBytes(absl::string_view list);
  absl::StatusOr<Elements> ReadImage(absl::string_view bytes);
  Elements ElementsAt(const void* data) const;
  absl::Status CheckSize(size_t size, size_t expected,
                         absl::string_view of) const;

  const ExampleArray array_;
  const size_t count_;
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
  std::vector<absl::string_view> strings_;
  // A string's bytes, aligned.
  std::vector<std::max_align_t> aligned_;
  // Of images: one of them.
  std::unique_ptr<ImageLoader> loader_;
  std::unique_ptr<ImageDecoder> decoder_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_EXAMPLE_ARRAY_H_
