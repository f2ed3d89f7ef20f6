// Collects the tensors of a program, and records how its operations use them.
//
// Each device derives a ProgramBuilder, which defines how operations are
// created; the implementations of operations are written against it. From the
// recorded uses this class derives two things:
//
//  * The memory plan (memory_plan.h). A tensor lives from the first to the last
//    operation that uses it. Tensors whose lives do not overlap share memory in
//    the arena.
//  * The sections (device.h). FinishGradient is called after the operation that
//    writes a variable's gradient, FinishReads after the last operation that
//    reads the variable. When all gradients of a bucket are written, the bucket
//    is ready and its section ends. When all its variables are read, the bucket
//    is final and the section ends, too: a push of it need not wait for the
//    next gradient. A device that computes with copies of its own has no use
//    for the second.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_LAYOUT_BUILDER_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_LAYOUT_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/model/variable.h"
#include "glog/logging.h"
#include "worker/device/box_axes.h"
#include "worker/device/device.h"
#include "worker/device/permuted_axes.h"
#include "worker/device/program/moving_memory.h"
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

  // Sets the owner of the following tensors and operations, for errors: "layer
  // conv2d".
  void SetOwner(const std::string& owner);

  // The same for a part of the model. `in_float32`: it computes in float32
  // regardless of the precision.
  virtual void BeginPart(const std::string& owner, bool in_float32);

  // --- Tensors. Pointers are valid as long as the program. ---

  // A tensor in the arena.
  template <typename T>
  Tensor* NewTensor(Shape shape) {
    return NewInArena(std::move(shape), TypeOf<T>(), sizeof(T));
  }
  // A tensor in the arena, in the layer's storage type.
  Tensor* NewTensor(Shape shape) {
    return NewTensor(std::move(shape), storage_type());
  }
  Tensor* NewTensor(Shape shape, DataType type) {
    return NewInArena(std::move(shape), type,
                      static_cast<int64_t>(SizeOf(type)));
  }
  // The type in which the layer's tensors are stored, unless the device chooses
  // another.
  DataType storage_type() const {
    return in_float32_ ? DataType::kFloat32 : type_of_layers_;
  }
  // A tensor for values of `from` that are moved without computing: in the type
  // of `from`, or in the layer's storage type.
  virtual Tensor* NewMoved(const Tensor* from, Shape shape) = 0;
  // A tensor of constant values. Not in the arena.
  virtual Tensor* NewConstant(Shape shape, std::vector<float> values) = 0;
  // Tells the builder that `tensor` will be overwritten, so copies of its
  // values (in another type or layout) become invalid.
  virtual void NoteOverwriting(const Tensor* tensor) = 0;
  // A tensor with the same memory and another shape.
  Tensor* Reshaped(const Tensor* tensor, Shape shape);

  // By index in Graph::inputs and ProgramSpec::outputs. Not in the arena.
  Tensor* features(size_t input) const { return features_[input]; }
  Tensor* labels(size_t output) const { return labels_[output]; }
  // Only with OutputSpec::has_sample_weights.
  Tensor* weights(size_t output) const { return weights_[output]; }
  Tensor* variable(int index) const { return variables_[index]; }
  // The type in which this layer's matrix products and convolutions multiply:
  // for example bfloat16 in mixed precision.
  virtual DataType compute_type() const { return storage_type(); }
  // The memory for the gradient of a variable, which must not be frozen.
  Tensor* gradient(int index) const {
    CHECK(gradients_[index] != nullptr) << index;
    return gradients_[index];
  }
  // The memory for a node's part of that gradient. For the first node that asks
  // it is gradient(index), for further calls of the layer it is new. The first
  // node must call FinishGradient before another does.
  Tensor* NewGradientPart(int index);
  // `shape` of one example, extended by the batch.
  Shape BatchShape(const Shape& shape) const;

  // --- Operations that every device has. ---

  // Adds an operation of the device's table (operations/operation_table.h).
  // Returns the output.
  virtual Tensor* AddCall(const PlacedCall& call) = 0;

  // Copies `box` of `from` to `to`.
  virtual void AddBoxRead(const Tensor* from, const BoxAxes& box,
                          const Tensor* to) = 0;
  // Copies `from` to `box` of `to`; does not change other elements.
  virtual void AddBoxWrite(const Tensor* from, const BoxAxes& box,
                           const Tensor* to) = 0;
  // Copies `from` to `box` of `to`, and sets all other elements to `value`.
  virtual void AddPadding(const Tensor* from, const BoxAxes& box, double value,
                          const Tensor* to) = 0;
  // Copies `from` to `to`, whose axes are in another order.
  virtual void AddPermutation(const Tensor* from, const PermutedAxes& axes,
                              const Tensor* to) = 0;
  virtual void AddCopy(const Tensor* from, const Tensor* to) = 0;
  // Copies `count` doubles.
  virtual void AddDoublesCopy(const Tensor* from, int64_t from_begin,
                              const Tensor* to, int64_t to_begin,
                              int64_t count) = 0;
  // Replaces `sums`, which are doubles, by their sums over the replicas of the
  // step, if there are several.
  virtual void AddSumAllReduce(const Tensor* sums) = 0;
  // Batch::regularization_scale of the current step, of shape (), in float32.
  virtual Tensor* AddRegularizationScale() = 0;
  // Elementwise sum; `sum` may be `a` or `b`.
  virtual void AddSum(const Tensor* a, const Tensor* b, const Tensor* sum) = 0;
  // Writes the sums of the rows of `from`.
  virtual void AddRowSums(const Tensor* from, const RowGeometry& rows,
                          const Tensor* sums) = 0;
  // Writes the largest element of each row; NaN if there is one.
  virtual void AddRowMaxima(const Tensor* from, const RowGeometry& rows,
                            const Tensor* maxima) = 0;

  // Adds one operation that repeats the operations that `add_body` adds, which
  // must end no section. `used` lists the tensors outside of the body that it
  // reads or writes, also by moving tensors.
  virtual void AddLoop(const std::vector<const Tensor*>& used, int64_t steps,
                       absl::FunctionRef<void()> add_body) = 0;
  // For the body of a loop: a tensor that is elsewhere in each step.
  Tensor* NewMoving(Shape shape, DataType type, StepAddress address);

  // Call it once per node with the variable, after adding the operation that
  // writes the node's `part` of the gradient; adds that to the parts before it.
  // After the last one adds the regularizer's gradient. If this completes a
  // bucket that leaves the device, ends a section.
  void FinishGradient(int variable, const Tensor* part);
  // Call it once per node with the variable, after FinishGradient, and after
  // adding the node's last operation that reads the variable. If no variable of
  // the bucket is read any more, ends a section.
  void FinishReads(int variable);

 protected:
  // Returns the address of a bucket in the device's memory; of a frozen
  // bucket's gradients, null.
  using BucketMemory = absl::FunctionRef<std::byte*(int bucket)>;
  // The batch, the variables and their gradients are float32.
  LayoutBuilder(const ProgramSpec& spec, DataType type_of_layers,
                BucketMemory variables, BucketMemory gradients);

  bool computes_in_float32() const { return in_float32_; }

  // Whether operations read the variables in host memory, which an update may
  // overwrite. Otherwise a bucket is final as soon as it is ready.
  virtual bool reads_host_variables() const { return true; }
  // Called when all gradients of a bucket that leaves the device are written.
  // `is_last`: those of all buckets are.
  virtual void AddBucketEnd(int /*bucket*/, bool /*is_last*/) {}
  // Adds the regularizer's gradient to the loss's gradient.
  virtual void AddPenaltyGradient(const Regularizer& regularizer,
                                  const Tensor* values,
                                  const Tensor* gradients) = 0;

  // Adds the body of a loop, which counts as one operation: the next one that
  // is noted. Returns the memories to move in each step.
  std::vector<MovingMemory> AddLoopBody(absl::FunctionRef<void()> add_body);

  // Records that the next operation reads or writes these tensors.
  void NoteOperation(const std::vector<const Tensor*>& used);
  // Ends a section, unless no operation was added since the last one.
  void EndSection();
  int section_count() const {
    return static_cast<int>(layout_.sections.size());
  }
  // A tensor with its own memory outside the arena.
  Tensor* NewOutsideArena(Shape shape, std::byte* data = nullptr);
  bool IsInArena(const Tensor* tensor) const {
    return uses_.find(tensor->memory) != uses_.end();
  }
  // The memory of the last tensor created, for the program to place.
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
  // Uses of the memory blocks in the arena.
  absl::flat_hash_map<const Memory*, Use> uses_;
  absl::flat_hash_map<std::string, int> owner_indices_;
  int owner_ = 0;
  // How many loops the next operation is in.
  int loop_depth_ = 0;
  // Of the innermost loop.
  std::vector<MovingMemory> moving_;
  std::vector<Tensor*> features_;
  std::vector<Tensor*> labels_;
  std::vector<Tensor*> weights_;
  std::vector<Tensor*> variables_;
  // Null for frozen variables.
  std::vector<Tensor*> gradients_;
  // Of a bucket's variables, how many have no written gradient yet, and how
  // many a later operation reads.
  struct BucketProgress {
    size_t unwritten = 0;
    size_t unread = 0;
  };
  // For each bucket that is not frozen.
  std::vector<BucketProgress> progress_;
  struct VariableProgress {
    // Whether a node has asked for the memory of its part of the gradient.
    bool is_placed = false;
    // Whether the first node has written its part.
    bool is_written = false;
    // How many nodes have not written their part yet, and how many will still
    // read the variable.
    int unwritten = 0;
    int unread = 0;
  };
  // By variable.
  std::vector<VariableProgress> of_variable_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_LAYOUT_BUILDER_H_
