#include "common/data_source/npy_source.h"

#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/data_source/array_source.h"
#include "common/data_source/array_stream.h"
#include "common/data_source/npy.h"

namespace paceline {
namespace {

std::vector<ArrayToOpen> NpyArraysOf(const ByName<FilePath>& files) {
  std::vector<ArrayToOpen> arrays;
  for (const auto& [name, file] : files.entries) {
    arrays.push_back({name, file.text,
                      [path = file.text]() -> absl::StatusOr<Shape> {
                        ASSIGN_OR_RETURN(NpyHeader header, ReadNpyHeader(path));
                        return std::move(header.shape);
                      },
                      [path = file.text] { return OpenNpy(path); }});
  }
  return arrays;
}

std::vector<ArrayToStream> NpyRowsOf(const ByName<FilePath>& files) {
  std::vector<ArrayToStream> arrays;
  for (const auto& [name, file] : files.entries) {
    arrays.push_back({name, file.text, [path = file.text] {
                        return OpenNpyRows(path, RowOrder::kOnce);
                      }});
  }
  return arrays;
}

}  // namespace

const FieldTable<NpySource>& FieldsOf(const NpySource*) {
  static const auto& table = *new FieldTable<NpySource>(
      "npy",
      "NumPy files, as numpy.save writes them, plain or gzip, one for each "
      "array: in C order, of little-endian uint8, int8, int16, int32, int64, "
      "float32 or float64.",
      {Required("features", &NpySource::features,
                "Features, of shape [examples, ...]. For several inputs, a map "
                "from the model's Input layers to their files."),
       Required("labels", &NpySource::labels,
                "Labels, of shape [examples, ...]: values of an output's "
                "shape, or class ids, of that shape without its last axis. For "
                "several outputs, a map from the model's output layers to "
                "their files."),
       Optional("sample_weight", &NpySource::sample_weight,
                "How much each example counts in the losses, of shape "
                "[examples]. For several outputs, a map from the model's "
                "output layers to their files, or one file for all.")});
  return table;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenNpySource(
    const NpySource& source, Contents contents) {
  if (contents == Contents::kFeatures) {
    return OpenArrayStream({NpyRowsOf(source.features), {}});
  }
  ByArray<ArrayToOpen> arrays = {NpyArraysOf(source.features),
                                 NpyArraysOf(source.labels)};
  if (source.sample_weight) {
    arrays.weights = NpyArraysOf(*source.sample_weight);
  }
  return OpenArraySource(arrays);
}

}  // namespace paceline
