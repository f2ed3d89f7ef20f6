#include "common/data_source/npz_source.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "common/base/status_macros.h"
#include "common/data_source/array_source.h"
#include "common/data_source/array_stream.h"
#include "common/data_source/npz.h"

namespace paceline {
namespace {

std::vector<ArrayToOpen> ArraysOf(const NpzArchive& archive,
                                  const ByName<ArrayName>& names) {
  std::vector<ArrayToOpen> arrays;
  for (const auto& [name, array] : names.entries) {
    arrays.push_back(
        {name, archive.NameOf(array.text),
         [&archive, &array = array.text]() -> absl::StatusOr<Shape> {
           ASSIGN_OR_RETURN(NpyHeader header, archive.ReadHeader(array));
           return std::move(header.shape);
         },
         [&archive, &array = array.text] { return archive.OpenArray(array); }});
  }
  return arrays;
}

// Of the features.
std::vector<ArrayToStream> RowsOf(const NpzArchive& archive,
                                  const NpzSource& source) {
  std::vector<ArrayToStream> arrays;
  for (const auto& [name, array] : source.features.entries) {
    arrays.push_back({name, archive.NameOf(array.text),
                      [path = source.file.text, array = array.text] {
                        return OpenNpzRows(path, array, RowOrder::kOnce);
                      }});
  }
  return arrays;
}

}  // namespace

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
                "Name of the array of features, of shape [examples, ...]. For "
                "several inputs, a map from the model's Input layers to the "
                "names of their arrays."),
       Optional("labels", &NpzSource::labels,
                "Name of the array of labels, of shape [examples, ...]: values "
                "of an output's shape, or class ids, of that shape without its "
                "last axis. For several outputs, a map from the "
                "model's output layers to the names of their arrays."),
       Optional("sample_weight", &NpzSource::sample_weight,
                "Name of the array of how much each example counts in the "
                "losses, of shape [examples]. For several outputs, a map from "
                "the model's output layers to the names of their arrays, or "
                "one for all.")});
  return table;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenNpzSource(
    const NpzSource& source, Contents contents) {
  ASSIGN_OR_RETURN(const NpzArchive archive,
                   NpzArchive::Open(source.file.text));
  if (contents == Contents::kFeatures) {
    return OpenArrayStream({RowsOf(archive, source), {}});
  }
  ByArray<ArrayToOpen> arrays = {ArraysOf(archive, source.features),
                                 ArraysOf(archive, source.labels)};
  if (source.sample_weight) {
    arrays.weights = ArraysOf(archive, *source.sample_weight);
  }
  return OpenArraySource(arrays);
}

}  // namespace paceline
