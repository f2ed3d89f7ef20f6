#include "common/data_source/cached_source.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/base/usable_memory.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// What is known of an example. Only the reader that has made it kWriting writes
// its values, and others read them once it is kReady.
enum class Entry : uint8_t { kEmpty, kWriting, kReady };

int64_t BytesOf(const std::vector<ArraySpec>& arrays) {
  int64_t bytes = 0;
  for (const ArraySpec& array : arrays) {
    bytes +=
        NumElements(array.shape) * static_cast<int64_t>(SizeOf(array.type));
  }
  return bytes;
}

int64_t BytesOf(const ExampleSpec& spec) {
  return BytesOf(spec.features) + BytesOf(spec.labels) + BytesOf(spec.weights);
}

// The values of all examples, one after the other. Thread-safe.
class Cache {
 public:
  Cache(const ExampleSpec& spec, int64_t count,
        std::unique_ptr<std::byte[]> values)
      : spec_(spec),
        example_bytes_(BytesOf(spec)),
        values_(std::move(values)),
        entries_(count) {}

  // Points `example` to the values of example `index`. Returns whether they are
  // there.
  bool Find(int64_t index, Example& example) const {
    if (entries_[index].load(std::memory_order_acquire) != Entry::kReady) {
      return false;
    }
    const std::byte* at = values_.get() + index * example_bytes_;
    Point(spec_.features, at, example.features);
    Point(spec_.labels, at, example.labels);
    Point(spec_.weights, at, example.weights);
    return true;
  }

  // Keeps the values of example `index`, unless another reader does.
  void Keep(int64_t index, const Example& example) {
    Entry expected = Entry::kEmpty;
    if (!entries_[index].compare_exchange_strong(expected, Entry::kWriting)) {
      return;
    }
    std::byte* at = values_.get() + index * example_bytes_;
    Copy(spec_.features, example.features, at);
    Copy(spec_.labels, example.labels, at);
    Copy(spec_.weights, example.weights, at);
    entries_[index].store(Entry::kReady, std::memory_order_release);
  }

 private:
  static void Point(const std::vector<ArraySpec>& specs, const std::byte*& at,
                    std::vector<Elements>& arrays) {
    for (size_t i = 0; i < specs.size(); ++i) {
      arrays[i] = {specs[i].type, at, NumElements(specs[i].shape)};
      at += arrays[i].count * static_cast<int64_t>(SizeOf(specs[i].type));
    }
  }

  static void Copy(const std::vector<ArraySpec>& specs,
                   const std::vector<Elements>& arrays, std::byte*& at) {
    for (size_t i = 0; i < specs.size(); ++i) {
      CHECK_EQ(arrays[i].count, NumElements(specs[i].shape));
      const size_t bytes =
          static_cast<size_t>(arrays[i].count) * SizeOf(specs[i].type);
      std::memcpy(at, arrays[i].data, bytes);
      at += bytes;
    }
  }

  const ExampleSpec& spec_;
  const int64_t example_bytes_;
  const std::unique_ptr<std::byte[]> values_;
  std::vector<std::atomic<Entry>> entries_;
};

class CachedReader : public ExampleReader {
 public:
  CachedReader(const ExampleSpec& spec, Cache& cache,
               std::unique_ptr<ExampleReader> inner)
      : cache_(cache), inner_(std::move(inner)) {
    example_.features.resize(spec.features.size());
    example_.labels.resize(spec.labels.size());
    example_.weights.resize(spec.weights.size());
  }

  absl::StatusOr<const Example*> Read(int64_t index) override {
    if (cache_.Find(index, example_)) return &example_;
    ASSIGN_OR_RETURN(const Example* example, inner_->Read(index));
    cache_.Keep(index, *example);
    return example;
  }

 private:
  Cache& cache_;
  const std::unique_ptr<ExampleReader> inner_;
  Example example_;
};

class CachedSource : public DataSource {
 public:
  CachedSource(std::unique_ptr<const DataSource> inner,
               std::unique_ptr<std::byte[]> values)
      : inner_(std::move(inner)),
        cache_(inner_->spec(), inner_->example_count(), std::move(values)) {}

  const std::string& name() const override { return inner_->name(); }
  const ExampleSpec& spec() const override { return inner_->spec(); }
  int64_t example_count() const override { return inner_->example_count(); }
  absl::Status CheckClassIds(size_t label, const ClassIds& ids) const override {
    return inner_->CheckClassIds(label, ids);
  }
  FileLayout Files() const override { return inner_->Files(); }
  absl::StatusOr<std::unique_ptr<ExampleReader>> MakeReader() const override {
    ASSIGN_OR_RETURN(std::unique_ptr<ExampleReader> reader,
                     inner_->MakeReader());
    return std::make_unique<CachedReader>(spec(), cache_, std::move(reader));
  }

 private:
  const std::unique_ptr<const DataSource> inner_;
  mutable Cache cache_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const DataSource>> CacheInMemory(
    std::unique_ptr<const DataSource> source) {
  const int64_t count = source->example_count();
  const int64_t example_bytes = BytesOf(source->spec());
  ASSIGN_OR_RETURN(const uint64_t memory, UsableMemory());
  std::unique_ptr<std::byte[]> values;
  if (count <= static_cast<int64_t>(memory) / (example_bytes + 1)) {
    values.reset(new (std::nothrow) std::byte[count * example_bytes]);
  }
  if (values == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(
        source->name(), ": cache: memory: ", count, " examples of ",
        example_bytes, " bytes; expected that they fit into the ", memory,
        " bytes that this task may use"));
  }
  return std::make_unique<CachedSource>(std::move(source), std::move(values));
}

}  // namespace paceline
