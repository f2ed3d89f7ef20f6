// The operations in a Functional's layers that compute masks.
//
// Keras records the mask of a call as a keyword argument, and the operations
// that compute it as entries of `layers`:
//
//   embedding  not_equal: input != 0       Masking adds an `any` to this
//         \     /
//          lstm(x, mask=…)
//
// Merges add `logical_or` and others. The graph computes the same masks
// (graph_masks.h), so the entries are left out. A mask that somebody gave a
// layer by hand looks the same: of each call we read which layers made its
// mask, and the graph refuses others (KerasObject::masked_by).
#ifndef PACELINE_COMMON_KERAS_MASK_OPERATIONS_H_
#define PACELINE_COMMON_KERAS_MASK_OPERATIONS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// The keyword by which Keras records the mask of a call.
inline constexpr absl::string_view kMaskKeyword = "mask";

// What a call says of the mask of what it reads.
struct CallMask {
  // The names of the calls of Embedding, Masking and Concatenate layers whose
  // masks, or any of them, are the mask. Of a Concatenate: the masks of its
  // inputs.
  std::vector<std::string> masked_by;
  // Keras records no mask for the call: an operator such as x + y, which is no
  // layer and carries none on, or a call with keywords of a layer or
  // Sequential, which reads the mask that there is when the model runs.
  bool unmasked = false;
};

class MaskOperations {
 public:
  // Reads the masks of all calls of `layers`, which must outlive the object.
  // `path`: of `layers`. Unimplemented for masks that no layer made.
  static absl::StatusOr<MaskOperations> Read(const Value::List& layers,
                                             const Path& path);

  // For each call of a layer, an index into `layers`.
  const std::vector<CallMask>& MasksOf(size_t layer) const {
    return masks_[layer];
  }

  // Whether an entry of `layers` only computes masks.
  bool Has(const Value& entry) const { return used_.contains(&entry); }

 private:
  explicit MaskOperations(const Value::List& layers);

  // The names of the calls that made the masks of a call of `layer`.
  absl::StatusOr<std::set<std::string>> ReadCall(const Value& layer,
                                                 const Value& call,
                                                 const Path& path);
  // Adds those of the mask `tensor`.
  absl::Status AddMakers(const Value& tensor, const Path& path,
                         std::set<std::string>& makers);
  // The call that made the mask that an operation gives; "": it is not what
  // Keras writes.
  std::string MakerOf(const Value& operation);
  // The entry of an operation with one call that gives a tensor; null: none
  // does.
  const Value* OperationOf(const Value& tensor) const;
  // The only operation that an operation reads; null: it does not read one.
  const Value* OperationBefore(const Value& operation) const;
  // The call of a layer of the class that makes the mask `operation`, a
  // comparison of the layer's input with a number; "": there is none.
  std::string MaskingCall(absl::string_view class_name, const Value& operation);
  // The call of a Concatenate of whose inputs `concatenation` has the masks;
  // "": there is none. The masks themselves are read later.
  std::string ConcatenateCall(const Value& concatenation);

  // The call of a layer that reads these tensors; "": there is none.
  std::string CallThatReads(const Value& layer,
                            const std::vector<const Value*>& tensors);

  // A part of a concatenation of masks.
  struct Part {
    // What the Concatenate reads.
    const Value* input = nullptr;
    // Null: all steps count.
    const Value* mask = nullptr;
  };
  // No input: it is not what Keras writes.
  Part ReadPart(const Value& part);

  // The entries by name.
  absl::flat_hash_map<std::string, const Value*> entries_;
  // Layers that make masks.
  std::vector<const Value*> makers_of_masks_;
  // By entry, by call.
  std::vector<std::vector<CallMask>> masks_;
  std::set<const Value*> used_;
  // By call of a Concatenate whose mask some call reads: those of its inputs'.
  std::map<std::string, std::set<std::string>> of_concatenates_;
  // Masks of inputs of these calls that are not read yet.
  std::vector<std::pair<std::string, const Value*>> unread_;
  // Operations and layers that were looked at.
  size_t visit_count_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MASK_OPERATIONS_H_
