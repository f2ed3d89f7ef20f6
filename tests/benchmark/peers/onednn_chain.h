// The tutorial's training step as a hand-written chain of oneDNN primitives,
// with which step_benchmark compares the CPU device.
//
//   Conv2D(32, 3, relu) – MaxPooling2D – Flatten – Dense(64, relu) – Dense(10),
//   sparse cross-entropy from logits, Adam on all 347,146 parameters.
//
// It supports only this model and batch size, and has no graph, plan or
// strategy. Arguments are bound once; oneDNN keeps its own scratchpads.
#ifndef PACELINE_TESTS_BENCHMARK_PEERS_ONEDNN_CHAIN_H_
#define PACELINE_TESTS_BENCHMARK_PEERS_ONEDNN_CHAIN_H_

#include <cstdint>
#include <deque>
#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace paceline::peers {

// The layout of images between primitives.
enum class ImageLayout {
  // (batch, height, width, channels), Keras' order: Flatten costs nothing.
  kChannelsLast,
  // oneDNN's choice; reordered before and after Flatten.
  kAny,
};

class OnednnChain {
 public:
  static constexpr int64_t kBatchSize = 64;
  static constexpr int64_t kImageSize = 28 * 28;

  // Uses as many threads as OpenMP gives to the calling thread now.
  explicit OnednnChain(ImageLayout layout);

  // One step on kBatchSize images and class ids. Returns the batch's mean loss.
  float Step(const float* images, const int32_t* labels);

 private:
  using Memory = dnnl::memory;
  using Arguments = std::unordered_map<int, Memory>;

  struct Primitive {
    dnnl::primitive primitive;
    Arguments arguments;
  };

  // A parameter with Adam's slots.
  struct Parameter {
    Memory value;
    Memory gradient;
    std::vector<float> momentum;
    std::vector<float> velocity;
  };

  // Initial weights are in ±scale.
  Parameter& AddParameter(const Memory::desc& layout, float scale);
  void AddConvolution(const Memory::desc& images, const Memory::desc& result);
  void AddPooling();
  void AddDense();
  void Adam();

  dnnl::engine engine_;
  dnnl::stream stream_;
  // The batch in the layouts of the primitives.
  std::deque<Memory> images_;
  // Between convolution and pooling.
  Memory features_;
  Memory features_gradient_;
  // Between Flatten and Dense.
  Memory flat_;
  Memory flat_gradient_;
  Memory logits_;
  Memory logits_gradient_;
  std::deque<Parameter> parameters_;
  std::vector<Primitive> forward_;
  // In reverse.
  std::vector<Primitive> backward_;
  int64_t step_count_ = 0;
};

}  // namespace paceline::peers

#endif  // PACELINE_TESTS_BENCHMARK_PEERS_ONEDNN_CHAIN_H_
