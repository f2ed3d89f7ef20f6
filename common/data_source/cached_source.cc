#include "common/data_source/cached_source.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/base/usable_memory.h"
#include "common/data_source/example_layout.h"
#include "common/data_source/wrapped_source.h"

namespace paceline {
namespace {

// What is known of an example. Only the reader that has made it kWriting writes
// its values, and others read them once it is kReady.
enum class Entry : uint8_t { kEmpty, kWriting, kReady };

// The values of all examples, one after the other. Thread-safe.
class MemoryCache {
 public:
  MemoryCache(const ExampleLayout& layout, int64_t count,
              std::unique_ptr<std::byte[]> values)
      : layout_(layout), values_(std::move(values)), entries_(count) {}

  const ExampleLayout& layout() const { return layout_; }

  // Points `example` to the values of example `index`. Returns whether they are
  // there.
  bool Find(int64_t index, Example& example) const {
    if (entries_[index].load(std::memory_order_acquire) != Entry::kReady) {
      return false;
    }
    layout_.Point(values_.get() + index * layout_.bytes(), example);
    return true;
  }

  // Keeps the values of example `index`, unless another reader does.
  void Keep(int64_t index, const Example& example) {
    Entry expected = Entry::kEmpty;
    if (!entries_[index].compare_exchange_strong(expected, Entry::kWriting)) {
      return;
    }
    layout_.Copy(example, values_.get() + index * layout_.bytes());
    entries_[index].store(Entry::kReady, std::memory_order_release);
  }

 private:
  const ExampleLayout layout_;
  const std::unique_ptr<std::byte[]> values_;
  std::vector<std::atomic<Entry>> entries_;
};

class MemoryCacheReader : public ExampleReader {
 public:
  MemoryCacheReader(MemoryCache& cache, std::unique_ptr<ExampleReader> inner)
      : cache_(cache),
        inner_(std::move(inner)),
        example_(cache.layout().MakeExample()) {}

  absl::StatusOr<const Example*> Read(int64_t index) override {
    if (cache_.Find(index, example_)) return &example_;
    ASSIGN_OR_RETURN(const Example* example, inner_->Read(index));
    cache_.Keep(index, *example);
    return example;
  }

 private:
  MemoryCache& cache_;
  const std::unique_ptr<ExampleReader> inner_;
  Example example_;
};

class MemoryCachedSource : public WrappedSource {
 public:
  MemoryCachedSource(std::unique_ptr<const DataSource> source,
                     const ExampleLayout& layout,
                     std::unique_ptr<std::byte[]> values)
      : WrappedSource(std::move(source)),
        cache_(layout, inner().example_count(), std::move(values)) {}

  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    ASSIGN_OR_RETURN(std::unique_ptr<ExampleReader> reader,
                     inner().MakeReader());
    return std::make_unique<MemoryCacheReader>(cache_, std::move(reader));
  }

 private:
  mutable MemoryCache cache_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> CacheInMemory(
    std::unique_ptr<const DataSource> source) {
  const int64_t count = source->example_count();
  const ExampleLayout layout(source->spec());
  ASSIGN_OR_RETURN(const uint64_t memory, UsableMemory());
  std::unique_ptr<std::byte[]> values;
  if (count <= static_cast<int64_t>(memory) / (layout.bytes() + 1)) {
    values.reset(new (std::nothrow) std::byte[count * layout.bytes()]);
  }
  if (values == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(
        source->name(), ": cache: memory: ", count, " examples of ",
        layout.bytes(), " bytes; expected that they fit into the ", memory,
        " bytes that this task may use"));
  }
  return std::make_unique<MemoryCachedSource>(std::move(source), layout,
                                              std::move(values));
}

}  // namespace paceline
