#include "common/data_source/npz_source.h"

#include <utility>

#include "absl/strings/match.h"
#include "common/base/status_macros.h"
#include "common/data_source/array_source.h"
#include "common/data_source/npz.h"

namespace paceline {

absl::Status ReadConfig(const Value& value, const Path& path, ArrayName& out) {
  RETURN_IF_ERROR(Codec<std::string>::Read(value, path, out.text));
  if (!out.text.empty() && !absl::StrContains(out.text, '\0')) {
    return absl::OkStatus();
  }
  return WrongType(value, path, "the name of an array");
}

Value WriteConfig(const ArrayName& name) { return name.text; }

std::string ConfigType(const ArrayName*) { return "string"; }

const FieldTable<NpzSource>& FieldsOf(const NpzSource*) {
  static const auto& table = *new FieldTable<NpzSource>(
      "npz",
      "A NumPy archive, as numpy.savez and savez_compressed write it: arrays "
      "in C order of little-endian uint8, int8, int16, int32, int64, float32 "
      "or float64.",
      {Required("file", &NpzSource::file, "The archive."),
       Optional("features", &NpzSource::features,
                "Name of the array of features, of shape [examples, ...]."),
       Optional("labels", &NpzSource::labels,
                "Name of the array of labels, of shape [examples] or "
                "[examples, classes].")});
  return table;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenNpzSource(
    const NpzSource& source) {
  ASSIGN_OR_RETURN(const NpzArchive archive,
                   NpzArchive::Open(source.file.text));
  const std::string& features_array = source.features.text;
  const std::string& labels_array = source.labels.text;
  const std::string features_name = archive.NameOf(features_array);
  const std::string labels_name = archive.NameOf(labels_array);
  // The counts are compared before the values are read.
  ASSIGN_OR_RETURN(const NpzHeader features_header,
                   archive.ReadHeader(features_array));
  ASSIGN_OR_RETURN(const NpzHeader labels_header,
                   archive.ReadHeader(labels_array));
  RETURN_IF_ERROR(CheckSameCount(features_name, features_header.shape,
                                 labels_name, labels_header.shape));
  ASSIGN_OR_RETURN(StoredArray features, archive.Read(features_array));
  ASSIGN_OR_RETURN(StoredArray labels, archive.Read(labels_array));
  return MakeArraySource({features_name, std::move(features)},
                         {labels_name, std::move(labels)});
}

}  // namespace paceline
