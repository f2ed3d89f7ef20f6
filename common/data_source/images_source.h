// A source with the images in folders of classes, which it reads as they are
// needed, as Keras' image_dataset_from_directory gives them.
#ifndef PACELINE_COMMON_DATA_SOURCE_IMAGES_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_IMAGES_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/config/folder_path.h"
#include "common/data_source/data_source.h"
#include "common/data_source/image_options.h"
#include "common/data_source/keras_split.h"

namespace paceline {

enum class LabelMode {
  kInt,          // A class id.
  kCategorical,  // One-hot.
  kBinary,       // 0 or 1, of two classes.
};

absl::Span<const EnumName<LabelMode>> EnumNames(LabelMode);

struct ImagesSource : ImageOptions {
  FolderPath folder;
  LabelMode label_mode = LabelMode::kInt;
  std::optional<std::vector<std::string>> class_names;
  std::optional<double> validation_split;
  std::optional<Subset> subset;
  bool shuffle = true;
  std::optional<int64_t> seed;
  bool follow_links = false;
};

const FieldTable<ImagesSource>& FieldsOf(const ImagesSource*);

inline bool HasSampleWeight(const ImagesSource& /*source*/) { return false; }
// Whether all images of a class come before those of the next.
bool IsInOrderOfClasses(const ImagesSource& source);

// Lists the files. Images are decoded when they are read: errors then name the
// file, and say where it is damaged. Errors are those of ImageList, and
// InvalidArgument if a subset is empty.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenImagesSource(
    const ImagesSource& source,
    Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IMAGES_SOURCE_H_
