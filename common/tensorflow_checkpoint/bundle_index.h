// The index of a checkpoint of TensorFlow, a "tensor bundle": where its files
// have each tensor. A file PREFIX.index, a table of LevelDB; beside it lie the
// shards, PREFIX.data-00000-of-00002 and so on, the elements of tensors one
// behind another. Source: tensorflow/core/util/tensor_bundle.
#ifndef PACELINE_COMMON_TENSORFLOW_CHECKPOINT_BUNDLE_INDEX_H_
#define PACELINE_COMMON_TENSORFLOW_CHECKPOINT_BUNDLE_INDEX_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/tensor/shape.h"

namespace paceline {

// TensorFlow's numbers of the types that we name; a tensor may have others.
enum class TensorFlowType : int {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kString = 7,
  kInt64 = 9,
  kBFloat16 = 14,
  kHalf = 19,
};

struct BundleEntry {
  TensorFlowType type = TensorFlowType::kFloat;
  Shape shape;
  // Below BundleIndex::shard_count.
  int shard = 0;
  // In the shard. For a type above other than kString, the size is that of its
  // elements.
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
  // Masked, of the bytes.
  uint32_t masked_crc32c = 0;
  // Whether the tensor is stored in parts, elsewhere: it has no bytes here.
  bool is_in_parts = false;
};

struct BundleIndex {
  int shard_count = 1;
  // By key, such as "model/layer-0/kernel/.ATTRIBUTES/VARIABLE_VALUE".
  std::map<std::string, BundleEntry> entries;
};

// `file`: the bytes of the index. Errors name the key: InvalidArgument if it is
// no index, DataLoss if it is damaged, Unimplemented for what TensorFlow does
// not write today, ResourceExhausted above a limit.
absl::StatusOr<BundleIndex> ReadBundleIndex(absl::string_view file);

}  // namespace paceline

#endif  // PACELINE_COMMON_TENSORFLOW_CHECKPOINT_BUNDLE_INDEX_H_
