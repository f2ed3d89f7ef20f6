// Examples that are images in files, with their classes as labels.
#ifndef PACELINE_COMMON_DATA_SOURCE_IMAGE_DATA_H_
#define PACELINE_COMMON_DATA_SOURCE_IMAGE_DATA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/data_source/image_list.h"
#include "common/image/image_loader.h"

namespace paceline {

class ImageData : public DataSource {
 public:
  // `subset`: the images that are examples, in their order; nullopt: all. At
  // least one. `spec`: one array of features of the form's shape, and at most
  // one of labels: a class id in int32, or float32 with one value, or with one
  // for each class.
  ImageData(ImageList list, std::optional<std::vector<uint32_t>> subset,
            const ImageForm& form, ExampleSpec spec)
      : list_(std::move(list)),
        subset_(std::move(subset)),
        form_(form),
        spec_(std::move(spec)) {}

  const std::string& name() const override {
    return spec_.features.front().origin;
  }
  const ExampleSpec& spec() const override { return spec_; }
  int64_t example_count() const override {
    return subset_ ? static_cast<int64_t>(subset_->size()) : list_.size();
  }
  absl::Status CheckClassIds(size_t label, const ClassIds& ids) const override;
  std::vector<std::string> ClassNames(size_t /*label*/) const override {
    return list_.class_names();
  }
  std::optional<int64_t> KnownClass(int64_t index) const override {
    return list_.ClassOf(ImageOf(index));
  }
  FileLayout Files() const override {
    return {.has_file_per_example = true, .begins = {}};
  }
  void VisitFolderFiles(FileNameVisitor visit) const override;
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override;

 private:
  class Reader;

  // The number in the list of example `index`.
  int64_t ImageOf(int64_t index) const {
    return subset_ ? (*subset_)[index] : index;
  }

  const ImageList list_;
  const std::optional<std::vector<uint32_t>> subset_;
  const ImageForm form_;
  const ExampleSpec spec_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IMAGE_DATA_H_
