#include "common/data_source/idx_source.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/config/by_name.h"
#include "common/config/message_fields.h"
#include "common/data_source/array_source.h"
#include "common/data_source/array_stream.h"
#include "common/data_source/idx.h"
#include "common/data_source/stored_rows.h"
#include "google/protobuf/map.h"

namespace paceline {
namespace {

using Files = ByName<FilePath>;

// In the message, a single file without a name is a string, and named files are
// a map.
Files FilesOf(const std::string& alone,
              const google::protobuf::Map<std::string, std::string>& named) {
  Files files;
  for (const auto& [name, path] : named) files.entries[name].text = path;
  if (named.empty()) files.entries[""].text = alone;
  return files;
}

void SetFiles(const Files& files, std::string& alone,
              google::protobuf::Map<std::string, std::string>& named) {
  alone.clear();
  named.clear();
  for (const auto& [name, path] : files.entries) {
    (name.empty() ? alone : named[name]) = path.text;
  }
}

Accessors<v1::IdxSource, Files> Features() {
  return {[](const v1::IdxSource& source) {
            return FilesOf(source.features(), source.named_features());
          },
          [](v1::IdxSource& source, const Files& files) {
            SetFiles(files, *source.mutable_features(),
                     *source.mutable_named_features());
          }};
}

Accessors<v1::IdxSource, Files> Labels() {
  return {[](const v1::IdxSource& source) {
            return FilesOf(source.labels(), source.named_labels());
          },
          [](v1::IdxSource& source, const Files& files) {
            SetFiles(files, *source.mutable_labels(),
                     *source.mutable_named_labels());
          }};
}

Accessors<v1::IdxSource, std::optional<Files>> Weights() {
  return {[](const v1::IdxSource& source) {
            return HasSampleWeight(source)
                       ? std::optional(FilesOf(source.sample_weight(),
                                               source.named_sample_weights()))
                       : std::nullopt;
          },
          [](v1::IdxSource& source, const std::optional<Files>& files) {
            SetFiles(files.value_or(Files()), *source.mutable_sample_weight(),
                     *source.mutable_named_sample_weights());
          }};
}

// An empty path would be no weights.
Field<v1::IdxSource> WeightsField() {
  Field<v1::IdxSource> field = Optional(
      "sample_weight", Weights(),
      "How much each example counts in the losses, of shape [examples]. For "
      "several outputs, a map from the model's output layers to their files, "
      "or one file for all.");
  field.read = [read = field.read](const Value& value, const Path& path,
                                   v1::IdxSource& source) {
    if (value == Value("")) return ConfigError(path, "the path is empty");
    return read(value, path, source);
  };
  return field;
}

std::vector<ArrayToOpen> ArraysOf(const Files& files) {
  std::vector<ArrayToOpen> arrays;
  for (const auto& [name, file] : files.entries) {
    arrays.push_back({name, file.text,
                      [path = file.text]() -> absl::StatusOr<Shape> {
                        ASSIGN_OR_RETURN(IdxHeader header, ReadIdxHeader(path));
                        return std::move(header.shape);
                      },
                      [path = file.text] { return ReadIdx(path); }});
  }
  return arrays;
}

std::vector<ArrayToStream> RowsOf(const Files& files, RowOrder order) {
  std::vector<ArrayToStream> arrays;
  for (const auto& [name, file] : files.entries) {
    arrays.push_back({name, file.text, [path = file.text, order] {
                        return OpenIdxRows(path, order);
                      }});
  }
  return arrays;
}

}  // namespace

const FieldTable<v1::IdxSource>& v1::FieldsOf(const IdxSource*) {
  static const auto& table = *new FieldTable<IdxSource>(
      "idx", "IDX files, as MNIST comes in, plain or gzip.",
      {Required("features", Features(),
                "Features, of shape [examples, ...]. For several inputs, a map "
                "from the model's Input layers to their files."),
       Required(
           "labels", Labels(),
           "Labels, of shape [examples, ...]: values of an output's shape, "
           "or class ids, of that shape without its last axis. For "
           "several outputs, a map from the model's output layers to "
           "their files."),
       WeightsField(),
       Optional("stream", Scalar(&IdxSource::stream, &IdxSource::set_stream),
                "Whether examples are read one after the other as they are "
                "needed, without `shuffle`, instead of all into memory.")});
  return table;
}

bool IsIdxStream(const v1::IdxSource& source) { return source.stream(); }

bool HasSampleWeight(const v1::IdxSource& source) {
  return !source.sample_weight().empty() ||
         !source.named_sample_weights().empty();
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenIdxSource(
    const v1::IdxSource& source, Contents contents) {
  const Files features = Features().get(source);
  if (contents == Contents::kFeatures) {
    return OpenArrayStream({RowsOf(features, RowOrder::kOnce), {}});
  }
  const Files labels = Labels().get(source);
  const Files weights = Weights().get(source).value_or(Files());
  if (source.stream()) {
    return OpenArrayStream({RowsOf(features, RowOrder::kAny),
                            RowsOf(labels, RowOrder::kAny),
                            RowsOf(weights, RowOrder::kAny)});
  }
  return OpenArraySource(
      {ArraysOf(features), ArraysOf(labels), ArraysOf(weights)});
}

}  // namespace paceline
