// A source that says of itself what another one says.
#ifndef PACELINE_COMMON_DATA_SOURCE_WRAPPED_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_WRAPPED_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/data_source/data_source.h"

namespace paceline {

// Has the same examples as the inner source. A derived class reads them in its
// own way.
class WrappedSource : public DataSource {
 public:
  explicit WrappedSource(std::unique_ptr<const DataSource> inner)
      : inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  const ExampleSpec& spec() const override { return inner_->spec(); }
  int64_t example_count() const override { return inner_->example_count(); }
  absl::Status CheckClassIds(size_t label, const ClassIds& ids) const override {
    return inner_->CheckClassIds(label, ids);
  }
  std::vector<std::string> ClassNames(size_t label) const override {
    return inner_->ClassNames(label);
  }
  std::optional<int64_t> KnownClass(int64_t index) const override {
    return inner_->KnownClass(index);
  }
  std::string LocationOf(int64_t index) const override {
    return inner_->LocationOf(index);
  }
  bool is_stream() const override { return inner_->is_stream(); }
  FileLayout Files() const override { return inner_->Files(); }
  void VisitFolderFiles(FileNameVisitor visit) const override {
    inner_->VisitFolderFiles(visit);
  }

 protected:
  const DataSource& inner() const { return *inner_; }

 private:
  const std::unique_ptr<const DataSource> inner_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_WRAPPED_SOURCE_H_
