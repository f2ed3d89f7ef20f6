// The operations in a Functional's layers that compute masks.
//
// Keras records the mask of a call as a keyword argument, and the operations
// that compute it as entries of `layers`:
//
//   embedding  not_equal: input != 0       Masking adds an `any` to this
//         \     /
//          lstm(x, mask=…)
//
// Merges add `logical_or` and others. When Keras reads such a file it computes
// the same masks again, and so do we (graph_masks.h). So the entries are left
// out. A mask that somebody gave a layer by hand looks the same: of each call
// we read which layers made its mask, and the graph refuses others
// (KerasObject::masked_by).
#ifndef PACELINE_COMMON_KERAS_MASK_OPERATIONS_H_
#define PACELINE_COMMON_KERAS_MASK_OPERATIONS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/config/path.h"
#include "common/config/value.h"

namespace paceline {

// Whether a call may have a mask by this keyword.
bool IsMaskKeyword(absl::string_view keyword);

class MaskOperations {
 public:
  // Reads the masks of all calls of `layers`, at `path`, which must outlive the
  // object. Unimplemented for masks that no layer made.
  static absl::StatusOr<MaskOperations> Read(const Value::List& layers,
                                             const Path& path);

  // For each call of a layer, an index into `layers`: the names of the calls of
  // Embedding and Masking layers that made its masks.
  const std::vector<std::vector<std::string>>& MakersOf(size_t layer) const {
    return makers_[layer];
  }

  // Whether an entry of `layers` only computes masks.
  bool Has(const Value& entry) const { return used_.contains(&entry); }

 private:
  explicit MaskOperations(const Value::List& layers);

  // The names of the calls that made the masks of a call.
  absl::StatusOr<std::set<std::string>> ReadCall(const Value& call,
                                                 const Path& path);
  // Adds those of the mask `tensor`.
  absl::Status AddMakers(const Value& tensor, const Path& path,
                         std::set<std::string>& makers);
  // The name of the call of a layer that makes the mask `operation`, a
  // comparison of the layer's input with a number.
  absl::StatusOr<std::string> MakerOf(const Value& operation,
                                      const Path& path) const;

  // The entries by name.
  absl::flat_hash_map<std::string, const Value*> entries_;
  std::vector<const Value*> masking_layers_;
  // By entry, by call.
  std::vector<std::vector<std::vector<std::string>>> makers_;
  std::set<const Value*> used_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_MASK_OPERATIONS_H_
