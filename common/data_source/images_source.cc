#include "common/data_source/images_source.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/path.h"
#include "common/data_source/image_data.h"
#include "common/data_source/image_list.h"

namespace paceline {
namespace {

absl::Status CheckImagesSource(const ImagesSource& source, const Path& path) {
  if (source.validation_split.has_value() != source.subset.has_value()) {
    return ConfigError(path.Key(source.subset ? "subset" : "validation_split"),
                       "expected `validation_split` and `subset` together");
  }
  if (source.validation_split && source.shuffle && !source.seed) {
    return ConfigError(path.Key("validation_split"),
                       "expected a `seed` for the shuffling before the split, "
                       "or `shuffle: false`");
  }
  return absl::OkStatus();
}

ArraySpec LabelSpec(const ImagesSource& source, int64_t class_count) {
  ArraySpec spec;
  spec.origin = absl::StrCat(source.folder.text, ": classes");
  spec.type = ElementType::kInt32;
  if (source.label_mode == LabelMode::kInt) return spec;
  spec.type = ElementType::kFloat32;
  spec.shape = {source.label_mode == LabelMode::kBinary ? 1 : class_count};
  return spec;
}

std::vector<Field<ImagesSource>> FieldsOfImages() {
  const std::vector<Field<ImageOptions>> fields = ImageFields();
  return {fields.begin(), fields.end()};
}

}  // namespace

absl::Span<const EnumName<LabelMode>> EnumNames(LabelMode) {
  static constexpr EnumName<LabelMode> kNames[] = {
      {LabelMode::kInt, "int"},
      {LabelMode::kCategorical, "categorical"},
      {LabelMode::kBinary, "binary"},
  };
  return kNames;
}

const FieldTable<ImagesSource>& FieldsOf(const ImagesSource*) {
  static const auto& table = *new FieldTable<ImagesSource>(
      "images",
      "JPEG and PNG images in a folder with a folder for each class, as Keras' "
      "image_dataset_from_directory reads them, with its names and defaults. "
      "Values are float32 from 0 to 255. Images are read as they are needed.",
      Joined<ImagesSource>(
          {{Required("folder", &ImagesSource::folder,
                     "The folder, Keras' `directory`."),
            Optional("label_mode", &ImagesSource::label_mode,
                     "Labels are class ids (`int`), vectors with a 1 at the "
                     "class id (`categorical`), or 0 and 1 for two classes "
                     "(`binary`)."),
            Optional("class_names", &ImagesSource::class_names,
                     "The classes' folders in the order of their ids. Default: "
                     "all, in alphanumeric order.")},
           FieldsOfImages(),
           {Optional("validation_split", &ImagesSource::validation_split,
                     Within(1e-9, 1),
                     "The share of images that are for validation."),
            Optional("subset", &ImagesSource::subset,
                     "Which part of a `validation_split` this data set is."),
            Optional("shuffle", &ImagesSource::shuffle,
                     "Whether images are shuffled, by `seed`, before they are "
                     "split. (The order of an epoch is that of the data set's "
                     "own `shuffle`.)"),
            Optional("seed", &ImagesSource::seed,
                     Between(0, std::numeric_limits<uint32_t>::max()),
                     "That of the split; it gives the parts that Keras makes. "
                     "Both parts need the same."),
            Optional("follow_links", &ImagesSource::follow_links,
                     "Whether links to folders in a class are followed. None "
                     "may lead out of `folder`.")}}),
      [] { return ImagesSource(); }, CheckImagesSource);
  return table;
}

bool IsInOrderOfClasses(const ImagesSource& source) {
  return !source.validation_split || !source.shuffle;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenImagesSource(
    const ImagesSource& source, Contents contents) {
  ASSIGN_OR_RETURN(ImageList list,
                   ImageList::Read(source.folder.text, source.class_names,
                                   source.follow_links));
  const auto class_count = static_cast<int64_t>(list.class_names().size());
  if (source.label_mode == LabelMode::kBinary && class_count != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.folder.text, ": has ", class_count,
                     " classes; expected 2, for `label_mode: binary`"));
  }
  ExampleSpec spec;
  ArraySpec& images = spec.features.emplace_back();
  images.origin = source.folder.text;
  images.type = ElementType::kFloat32;
  images.shape = source.ImageShape();
  if (contents == Contents::kFeaturesAndLabels) {
    spec.labels.push_back(LabelSpec(source, class_count));
  }
  std::optional<std::vector<uint32_t>> subset;
  if (source.validation_split) {
    KerasSplit split = {*source.validation_split, *source.subset, {}};
    if (source.shuffle) split.seed = static_cast<uint32_t>(*source.seed);
    subset = ExamplesOf(split, list.size());
    if (subset->empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source.folder.text, ": of ", list.size(),
                       " images none is in the subset that `validation_split` "
                       "makes"));
    }
  }
  return std::make_unique<ImageData>(std::move(list), std::move(subset),
                                     source.Form(), std::move(spec));
}

}  // namespace paceline
