#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/data_source/cache_file.h"
#include "common/data_source/cached_source.h"
#include "common/data_source/example_layout.h"
#include "common/data_source/wrapped_source.h"

namespace paceline {
namespace {

class FileCacheReader : public ExampleReader {
 public:
  // `source` is the one that is cached, for errors.
  FileCacheReader(const DataSource& source, const ExampleLayout& layout,
                  const CacheFile& file, std::unique_ptr<ExampleReader> inner)
      : source_(source),
        layout_(layout),
        file_(file),
        inner_(std::move(inner)),
        slot_(layout.bytes()),
        example_(layout.MakeExample()) {
    layout.Point(slot_.bytes().data(), example_);
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    switch (file_.Read(index, slot_)) {
      case CacheSlot::Content::kValues:
        return &example_;
      case CacheSlot::Content::kDataLoss:
        return absl::DataLossError(ErrorOf(index));
      case CacheSlot::Content::kInvalidArgument:
        return absl::InvalidArgumentError(ErrorOf(index));
      case CacheSlot::Content::kNothing:
        break;
    }
    absl::StatusOr<const Example*> read = inner_->Read(index);
    if (!read.ok()) {
      Remember(index, read.status());
      return read;
    }
    layout_.Copy(**read, slot_.bytes().data());
    file_.WriteValues(index, slot_);
    return &example_;
  }

 private:
  // The error that was read.
  std::string ErrorOf(int64_t index) const {
    const absl::string_view text = CacheFile::ErrorText(slot_);
    if (!text.empty()) return PeerText(text);
    return absl::StrCat(source_.name(), ": example ", index,
                        " could not be read when ", file_.path(),
                        " was written");
  }

  void Remember(int64_t index, const absl::Status& error) {
    if (absl::IsDataLoss(error)) {
      file_.WriteError(index, CacheSlot::Content::kDataLoss, error.message(),
                       slot_);
    } else if (absl::IsInvalidArgument(error)) {
      file_.WriteError(index, CacheSlot::Content::kInvalidArgument,
                       error.message(), slot_);
    }
    // The bytes between arrays are the same whoever writes the next slot.
    const absl::Span<std::byte> bytes = slot_.bytes();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }

  const DataSource& source_;
  const ExampleLayout& layout_;
  const CacheFile& file_;
  const std::unique_ptr<ExampleReader> inner_;
  CacheSlot slot_;
  // Points into the slot.
  Example example_;
};

class FileCachedSource : public WrappedSource {
 public:
  FileCachedSource(std::unique_ptr<const DataSource> source,
                   const ExampleLayout& layout,
                   std::unique_ptr<const CacheFile> file)
      : WrappedSource(std::move(source)),
        layout_(layout),
        file_(std::move(file)) {}

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    ASSIGN_OR_RETURN(std::unique_ptr<ExampleReader> reader,
                     inner().MakeReader());
    return std::make_unique<FileCacheReader>(inner(), layout_, *file_,
                                             std::move(reader));
  }

 private:
  const ExampleLayout layout_;
  const std::unique_ptr<const CacheFile> file_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> CacheInFile(
    std::unique_ptr<const DataSource> source, const std::string& path,
    const std::string& fingerprint) {
  const ExampleLayout layout(source->spec());
  ASSIGN_OR_RETURN(std::unique_ptr<const CacheFile> file,
                   CacheFile::Open(path, {fingerprint, source->example_count(),
                                          layout.bytes()}));
  return std::make_unique<FileCachedSource>(std::move(source), layout,
                                            std::move(file));
}

}  // namespace paceline
