// The files of TensorFlow Datasets, dataset_info.json, features.json and the
// names of classes of y, which bytes 0 separate. The split "train" is looked
// for, whose shard x has an example with features of numbers x and y.
#include <glog/logging.h>

#include <cstdint>
#include <string>

#include "common/data_source/tfds_source.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/tfrecord_builder.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  absl::string_view text = input.rest();
  for (const char* file :
       {"dataset_info.json", "features.json", "y.labels.txt"}) {
    const size_t end = text.find('\0');
    FolderWith(file, text.substr(0, end));
    text = end == absl::string_view::npos ? "" : text.substr(end + 1);
  }
  static const std::string record = Record(
      ExampleOf({{"x", FloatFeature({1, 2, 3, 4})}, {"y", Int64Feature({5})}}));
  TfdsSource source;
  source.folder.text = FolderWith("x", record);
  const auto opened = OpenTfdsSource(source);
  if (!opened.ok()) return;
  const auto reader = (*opened)->MakeReader();
  CHECK(reader.ok()) << reader.status();
  for (int64_t i = 0; i < (*opened)->example_count(); ++i) {
    const auto example = (*reader)->Read(i);
    CHECK(example.ok()) << example.status();
    CHECK_EQ((*example)->features[0].count,
             NumElements((*opened)->spec().features[0].shape));
  }
}

}  // namespace paceline
