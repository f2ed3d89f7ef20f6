#include "common/data_source/image_data.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/data_source/whole_file.h"
#include "common/image/image_limits.h"
#include "glog/logging.h"

namespace paceline {
namespace {

template <typename T>
Elements ElementsIn(ElementType type, const std::vector<T>& values) {
  return {type, reinterpret_cast<const std::byte*>(values.data()),
          static_cast<int64_t>(values.size())};
}

}  // namespace

class ImageData::Reader : public ExampleReader {
 public:
  explicit Reader(const ImageData& data)
      : data_(data),
        file_(data.list_.folder(), kMaxImageBytes),
        loader_(data.form_),
        pixels_(data.form_.ValueCount()) {
    example_.features.push_back(ElementsIn(ElementType::kFloat32, pixels_));
    if (data.spec_.labels.empty()) return;
    const ArraySpec& labels = data.spec_.labels.front();
    if (labels.type == ElementType::kInt32) {
      example_.labels.push_back(ElementsIn(labels.type, class_id_));
    } else {
      label_.resize(NumElements(labels.shape));
      example_.labels.push_back(ElementsIn(labels.type, label_));
    }
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    CHECK(index >= 0 && index < data_.example_count());
    const int64_t image = data_.ImageOf(index);
    data_.list_.GetPath(image, path_);
    ASSIGN_OR_RETURN(const absl::string_view bytes, file_.Read(path_));
    const absl::Status loaded = loader_.Load(bytes, pixels_.data());
    if (!loaded.ok()) return Annotate(loaded, path_);
    SetLabel(data_.list_.ClassOf(image));
    return &example_;
  }

 private:
  void SetLabel(int64_t class_id) {
    class_id_.front() = static_cast<int32_t>(class_id);
    if (label_.empty()) return;
    if (label_.size() == data_.list_.class_names().size()) {
      std::fill(label_.begin(), label_.end(), 0.F);
      label_[class_id] = 1;
    } else {
      label_.front() = static_cast<float>(class_id);
    }
  }

  const ImageData& data_;
  WholeFileReader file_;
  ImageLoader loader_;
  std::string path_;
  std::vector<float> pixels_;
  std::vector<int32_t> class_id_ = {0};
  std::vector<float> label_;
  Example example_;
};

absl::Status ImageData::CheckClassIds(size_t label, const ClassIds& ids) const {
  const auto found = static_cast<int64_t>(list_.class_names().size());
  if (found <= ids.count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(spec_.labels[label].origin, ": there are ", found,
                   "; expected at most the ", ids.count, " of the model"));
}

void ImageData::VisitFolderFiles(FileNameVisitor visit) const {
  std::string path;
  for (int64_t i = 0; i < example_count(); ++i) {
    list_.GetPath(ImageOf(i), path);
    visit(path);
  }
}

absl::StatusOr<std::unique_ptr<ExampleReader>> ImageData::MakeReader() const {
  return std::make_unique<Reader>(*this);
}

}  // namespace paceline
