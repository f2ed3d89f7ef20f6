// Writes the curves of a job for TensorBoard, as keras.callbacks.TensorBoard
// does.
#ifndef PACELINE_COMMON_CALLBACK_TENSOR_BOARD_H_
#define PACELINE_COMMON_CALLBACK_TENSOR_BOARD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/callback.h"
#include "common/callback/profile_batch.h"
#include "common/callback/update_frequency.h"
#include "nlohmann/json_fwd.hpp"

namespace paceline {

template <typename T>
class FieldTable;

// The run "train" has epoch_<key> of each key of the logs, by epoch from 0, and
// epoch_learning_rate; the run "validation" has epoch_<key> of each
// "val_<key>", and evaluation_<key>_vs_iterations by calls of the optimizer.
// With `update_freq`, "train" also has batch_<key> by steps of the job from 1;
// of a group of steps, only the last that has points gets them.
// `write_steps_per_second` adds the key steps_per_second to both: of an epoch,
// the updates in the time that it took with its validation; of a batch, the
// steps since the last such point in the time that their groups took. With
// `histogram_freq`, "train" has the
// variables at the ends of epochs, which the leader reads from a checkpoint.
// Workers send images of the first batch, for "train", and traces of the steps
// of `profile_batch`, for the profile page.
class TensorBoard final : public Callback {
 public:
  static constexpr char kClassName[] = "TensorBoard";
  static const FieldTable<TensorBoard>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> output_paths() const override;
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  void EpochBegan(const EpochStart& start, Decision& decision) override;
  bool hears_batches() const override { return update_freq.steps > 0; }
  ProfileBatch traced_steps() const override { return profile_batch; }
  int64_t first_batch_images() const override { return first_images; }
  void BatchEnded(const BatchEnd& end, Decision& decision) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;
  void ImagesCame(const FirstImages& images, Decision& decision) override;
  void TraceCame(const std::string& task, std::shared_ptr<const Trace> trace,
                 Decision& decision) override;
  nlohmann::json Save() const override;
  absl::Status Restore(const ObjectReader& state) override;

  std::string log_dir = "logs";
  // In epochs, the first of which has histograms; 0: none has.
  int64_t histogram_freq = 0;
  bool write_graph = true;
  bool write_images = false;
  bool write_steps_per_second = false;
  UpdateFrequency update_freq;
  ProfileBatch profile_batch;
  // `first_batch_images`.
  int64_t first_images = 0;

 private:
  // The folder of the run "train".
  std::string TrainFolder() const;

  bool has_graph_ = false;
  // Since the last point of batch_steps_per_second.
  int64_t steps_since_point_ = 0;
  double seconds_since_point_ = 0;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_TENSOR_BOARD_H_
