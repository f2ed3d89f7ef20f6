#include "common/data_source/tfrecord_source.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/config/suggestion.h"
#include "common/data_source/example_array.h"
#include "common/data_source/example_source.h"
#include "common/tfrecord/example_parser.h"
#include "common/tfrecord/tfrecord_file.h"

namespace paceline {
namespace {

// Some of the example's features, for errors.
std::vector<std::string> KnownNames(absl::string_view record) {
  constexpr size_t kMaxNames = 20;
  std::vector<std::string> names = FeatureNames(record, kMaxNames);
  for (std::string& name : names) name = PeerText(name);
  return names;
}

// The arrays as the example has them.
absl::StatusOr<std::vector<ExampleArray>> DescribeAll(
    const ByName<ExampleFeature>& features, absl::string_view record,
    const std::string& file) {
  std::vector<ExampleArray> arrays;
  for (const auto& [name, feature] : features.entries) {
    ExampleParser parser({feature.feature});
    RETURN_IF_ERROR(parser.Parse(record));
    if (parser.feature(0).kind == FeatureKind::kNone) {
      return absl::InvalidArgumentError(
          absl::StrCat("it has no values of feature \"", feature.feature, "\"",
                       Suggestion(feature.feature, KnownNames(record))));
    }
    ASSIGN_OR_RETURN(ExampleArray array,
                     DescribeFeature(feature, parser.feature(0)));
    array.spec.name = name;
    array.spec.origin = absl::StrCat(file, ": ", feature.feature);
    array.class_names = feature.class_names;
    arrays.push_back(std::move(array));
  }
  return arrays;
}

absl::StatusOr<ByArray<ExampleArray>> Describe(const TfrecordSource& source,
                                               Contents contents,
                                               absl::string_view record,
                                               const std::string& file) {
  ByArray<ExampleArray> arrays;
  ASSIGN_OR_RETURN(arrays.features, DescribeAll(source.features, record, file));
  if (contents == Contents::kFeatures) return arrays;
  ASSIGN_OR_RETURN(arrays.labels, DescribeAll(source.labels, record, file));
  if (source.sample_weight) {
    ASSIGN_OR_RETURN(arrays.weights,
                     DescribeAll(*source.sample_weight, record, file));
  }
  return arrays;
}

}  // namespace

const FieldTable<TfrecordSource>& FieldsOf(const TfrecordSource*) {
  static const auto& table = *new FieldTable<TfrecordSource>(
      "tfrecord",
      "tf.train.Examples in TFRecord files without compression. They are read "
      "as they are needed, in any order.",
      {Required("file", &TfrecordSource::file,
                "The file, or several whose examples follow each other."),
       Required("features", &TfrecordSource::features,
                "The feature for the model's input: its name, or `{feature: "
                "NAME, shape: […], type: …}` with the shape per example, and "
                "the type (`uint8`) of values that are stored in a string of "
                "bytes, as tf.io.decode_raw reads them, or `{feature: NAME, "
                "image_size: […], color_mode: …}` of JPEG and PNG images, with "
                "the options of `images`. For several inputs, a "
                "map from the model's Input layers to their features."),
       Required("labels", &TfrecordSource::labels,
                "The feature with the labels. For several outputs, a map from "
                "the model's output layers to their features."),
       Optional("sample_weight", &TfrecordSource::sample_weight,
                "The feature that says how much an example counts in the "
                "losses. For several outputs, a map from the model's output "
                "layers to their features, or one for all.")});
  return table;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenTfrecordSource(
    const TfrecordSource& source, Contents contents) {
  std::vector<TfrecordFile> files;
  for (const FilePath& path : source.file.files) {
    ASSIGN_OR_RETURN(
        TfrecordFile file,
        TfrecordFile::Open(path.text, source.file.OffsetsOfEach()));
    files.push_back(std::move(file));
  }
  const auto first = std::find_if(
      files.begin(), files.end(),
      [](const TfrecordFile& file) { return file.record_count() > 0; });
  if (first == files.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.front().path(), ": there is no record",
                     files.size() > 1 ? ", nor in the other files" : "",
                     "; expected at least one"));
  }
  FileWindow window;
  ASSIGN_OR_RETURN(const TfrecordFile::Record record, first->Read(0, window));
  const auto arrays = Describe(source, contents, record.content, first->path());
  if (!arrays.ok()) {
    return Annotate(arrays.status(), first->NameOf(0, record.offset));
  }
  return MakeExampleSource(std::move(files), *arrays);
}

}  // namespace paceline
