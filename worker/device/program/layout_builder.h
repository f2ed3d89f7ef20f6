// Collects the tensors of a program, and notes what its operations use.
//
// Each device derives a ProgramBuilder, which adds how its operations are made;
// the bodies of operations are written against that. The builder notes when a
// tensor is first and last used, which gives the memory plan, and when the
// gradient of a variable is written, which gives the sections.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYOUT_BUILDER_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYOUT_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "glog/logging.h"
#include "worker/device/box_axes.h"
#include "worker/device/device.h"
#include "worker/device/program/program_layout.h"
#include "worker/device/program/tensor.h"
#include "worker/device/row_geometry.h"

namespace paceline {

struct PlacedCall;

class LayoutBuilder {
 public:
  virtual ~LayoutBuilder() = default;

  const ProgramSpec& spec() const { return spec_; }
  bool is_training() const { return spec_.mode == Mode::kTrain; }

  // Whose the tensors and operations are that come next: "layer conv2d".
  void SetOwner(const std::string& owner);

  // The same of a part of the model, which may compute in float32 whatever
  // others do.
  virtual void BeginPart(const std::string& owner, bool in_float32);

  // --- Tensors. Pointers stay valid as long as the program. ---

  // In the arena, from the first operation that uses it to the last.
  template <typename T>
  Tensor* NewTensor(Shape shape) {
    return NewInArena(std::move(shape), TypeOf<T>(), sizeof(T));
  }
  // Of the layer's storage type.
  Tensor* NewTensor(Shape shape) {
    return NewTensor(std::move(shape), storage_type());
  }
  Tensor* NewTensor(Shape shape, DataType type) {
    return NewInArena(std::move(shape), type,
                      static_cast<int64_t>(SizeOf(type)));
  }
  // The type of what the layer stores, unless the device chooses another.
  DataType storage_type() const {
    return in_float32_ ? DataType::kFloat32 : type_of_layers_;
  }
  // For reals of `from` that are only moved: of its type, or of the layer's
  // storage type.
  virtual Tensor* NewMoved(const Tensor* from, Shape shape) = 0;
  // Values that do not change. Not in the arena.
  virtual Tensor* NewConstant(Shape shape, std::vector<float> values) = 0;
  // `tensor` will be written over: what the device has made of its values does
  // not stand for it any more.
  virtual void NoteOverwriting(const Tensor* tensor) = 0;
  // The same memory under another shape.
  Tensor* Reshaped(const Tensor* tensor, Shape shape);

  // The batch, by index in Graph::inputs and Graph::outputs. Not in the arena.
  Tensor* features(size_t input) const { return features_[input]; }
  Tensor* labels(size_t output) const { return labels_[output]; }
  Tensor* variable(int index) const { return variables_[index]; }
  // The type that products multiply in this layer: bfloat16, say, in mixed
  // precision.
  virtual DataType compute_type() const { return storage_type(); }
  // Where the gradient of a variable that is not frozen must be written.
  Tensor* gradient(int index) const {
    CHECK(gradients_[index] != nullptr) << index;
    return gradients_[index];
  }
  // `shape` of an example, for the batch.
  Shape BatchShape(const Shape& shape) const;

  // --- Operations that every device has. ---

  // Of an operation that the device has (operations/operation_table.h). Returns
  // the output.
  virtual Tensor* AddCall(const PlacedCall& call) = 0;

  // `box` of `from`, all of `to`.
  virtual void AddBoxRead(const Tensor* from, const BoxAxes& box,
                          const Tensor* to) = 0;
  // All of `from`, `box` of `to`, whose other elements stay.
  virtual void AddBoxWrite(const Tensor* from, const BoxAxes& box,
                           const Tensor* to) = 0;
  // All of `from`, `box` of `to`, whose other elements become `value`.
  virtual void AddPadding(const Tensor* from, const BoxAxes& box, double value,
                          const Tensor* to) = 0;
  virtual void AddCopy(const Tensor* from, const Tensor* to) = 0;
  // `count` doubles of `from`, from one on, to those of `to`.
  virtual void AddDoublesCopy(const Tensor* from, int64_t from_begin,
                              const Tensor* to, int64_t to_begin,
                              int64_t count) = 0;
  // Replaces `sums`, doubles, by their sums over the replicas of the step, if
  // there are any.
  virtual void AddSumAllReduce(const Tensor* sums) = 0;
  // Batch::regularization_scale of each step, of shape (), in float32.
  virtual Tensor* AddRegularizationScale() = 0;
  // Of each element; the sum may be `a` or `b`.
  virtual void AddSum(const Tensor* a, const Tensor* b, const Tensor* sum) = 0;
  // The sums of the rows of `from`.
  virtual void AddRowSums(const Tensor* from, const RowGeometry& rows,
                          const Tensor* sums) = 0;

  // The gradient of the loss by a variable is written: adds that of its
  // regularizer, and ends a section where this makes a bucket ready that leaves
  // the device.
  void FinishGradient(int variable);
  // After FinishGradient: no operation that is yet to come reads the variable.
  void FinishReads(int variable);

 protected:
  // Where a bucket lies in the device's memory; a frozen one has no gradients.
  using BucketMemory = absl::FunctionRef<std::byte*(int bucket)>;
  // The batch, variables and their gradients are float32.
  LayoutBuilder(const ProgramSpec& spec, DataType type_of_layers,
                BucketMemory variables, BucketMemory gradients);

  bool computes_in_float32() const { return in_float32_; }

  // The gradients of a bucket that leaves are written; those of all, if it is
  // the last.
  virtual void AddBucketEnd(int /*bucket*/, bool /*is_last*/) {}
  // Adds the regularizer's gradient to that of the loss.
  virtual void AddPenaltyGradient(const Regularizer& regularizer,
                                  const Tensor* values,
                                  const Tensor* gradients) = 0;

  // The next operation reads or writes these.
  void NoteOperation(const std::vector<const Tensor*>& used);
  // Ends a section behind the operations so far, if there are new ones.
  void EndSection();
  int section_count() const {
    return static_cast<int>(layout_.sections.size());
  }
  // A tensor in a block of its own, which is not in the arena.
  Tensor* NewOutsideArena(Shape shape, std::byte* data = nullptr);
  bool IsInArena(const Tensor* tensor) const {
    return uses_.find(tensor->memory) != uses_.end();
  }
  // To be placed by the program.
  Memory* last_memory() const { return layout_.memories.back().get(); }

  // Ends the last section, and plans the memory. `outputs` are the model's.
  ProgramLayout TakeLayout(std::vector<const Tensor*> outputs);

 private:
  struct Use {
    Lifetime lifetime;
    int owner = 0;
  };

  template <typename T>
  static constexpr DataType TypeOf() {
    if (std::is_same_v<T, float>) return DataType::kFloat32;
    if (std::is_same_v<T, double>) return DataType::kFloat64;
    return DataType::kUint8;
  }
  void AddBatch();
  Tensor* NewInArena(Shape shape, DataType type, int64_t element_size_bytes);
  void ExtendLife(const Tensor* tensor, int last);
  void PlanArena();
  int operation_count() const {
    return static_cast<int>(layout_.operation_owners.size());
  }

  const ProgramSpec& spec_;
  const DataType type_of_layers_;
  bool in_float32_ = false;
  ProgramLayout layout_;
  // Of the blocks in the arena.
  std::map<const Memory*, Use> uses_;
  std::map<std::string, int> owner_indices_;
  int owner_ = 0;
  std::vector<Tensor*> features_;
  std::vector<Tensor*> labels_;
  std::vector<Tensor*> variables_;
  // Null if frozen.
  std::vector<Tensor*> gradients_;
  // Of a bucket, variables of which something is still to come.
  struct BucketProgress {
    size_t unwritten = 0;
    size_t read = 0;
  };
  // Of each bucket that is not frozen.
  std::vector<BucketProgress> progress_;
  // Of each variable, whether its gradient is written.
  std::vector<bool> is_written_;
  // Buckets that are final with the next section.
  std::vector<int> next_final_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYOUT_BUILDER_H_
