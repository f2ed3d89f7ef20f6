// A file of TFRecords; or, after a first byte that is odd, one
// tf.train.Example. Features x, y and z are looked for.
#include <glog/logging.h>

#include "common/data_source/tfrecord_source.h"
#include "common/tfrecord/example_parser.h"
#include "common/tfrecord/feature_values.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

constexpr size_t kLimit = 7;

void FuzzExample(const std::string& record) {
  ExampleParser parser({"x", "y", "z"});
  CHECK_LE(FeatureNames(record, kLimit).size(), kLimit);
  if (!parser.Parse(record).ok()) return;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<absl::string_view> strings;
  for (size_t i = 0; i < 3; ++i) {
    const absl::string_view list = parser.feature(i).bytes;
    if (ReadFloatList(list, kLimit, floats))
      CHECK_LE(floats.size(), kLimit + 1);
    if (ReadInt64List(list, kLimit, ints)) CHECK_LE(ints.size(), kLimit + 1);
    if (!ReadBytesList(list, kLimit, strings)) continue;
    CHECK_LE(strings.size(), kLimit + 1);
    for (const absl::string_view each : strings) {
      CHECK(each.data() >= list.data() &&
            each.data() + each.size() <= list.data() + list.size());
    }
  }
}

void FuzzFile(const std::string& path) {
  TfrecordSource source;
  source.file.files = {{path}};
  source.features.entries[""].feature = "x";
  source.labels.entries[""].feature = "y";
  const auto opened = OpenTfrecordSource(source);
  if (!opened.ok()) return;
  const auto reader = (*opened)->MakeReader();
  CHECK(reader.ok()) << reader.status();
  for (int64_t i = 0; i < (*opened)->example_count(); ++i) {
    const auto example = (*reader)->Read(i);
    CHECK(!example.ok() ||
          (*example)->features[0].count ==
              NumElements((*opened)->spec().features[0].shape));
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  if (input.Byte() % 2 == 1) {
    FuzzExample(std::string(input.rest()));
  } else {
    FuzzFile(PathOf(input.rest()));
  }
}

}  // namespace paceline
