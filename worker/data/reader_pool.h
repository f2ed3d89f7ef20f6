// Threads that read the examples of a batch together.
//
//   the calling thread ──rows 0-7──┐
//   helper 1           ──rows 8-15─┼──> the batch
//   helper 2           ──…         ┘
//
// Each thread takes the next few rows until there are none. Which thread reads
// a row makes no difference to what is in it.
#ifndef PACELINE_WORKER_DATA_READER_POOL_H_
#define PACELINE_WORKER_DATA_READER_POOL_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/mutex.h"

namespace paceline {

// Call Run on one thread.
class ReaderPool {
 public:
  // Reads row `row` by reader `reader`, from 0 on. A reader is used by one
  // thread at a time.
  using ReadRow = absl::FunctionRef<absl::Status(int reader, int64_t row)>;

  ReaderPool() = default;
  // Joins the threads.
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  // Reads the rows [0, count) by `readers` readers: reader 0 on this thread,
  // the others on threads of their own, which start when they are first needed.
  // Blocks until no row is being read. Returns the error of the first row that
  // has one; rows behind it may not be read then. Allocates only if it starts
  // threads.
  absl::Status Run(int readers, int64_t count, ReadRow read);

 private:
  void StartThreads(int readers);
  // Runs on the thread of a reader.
  void Serve(int reader);
  bool HasWork(int reader, int64_t served) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadRows(int reader, int64_t count, int64_t share, ReadRow read);
  void Fail(int64_t row, absl::Status status);

  // The next row that no reader has taken, and the first that has failed.
  std::atomic<int64_t> next_row_ = 0;
  std::atomic<int64_t> failed_row_ = 0;

  Mutex mutex_;
  CondVar changed_;
  // What Run has to do; null: nothing.
  const ReadRow* read_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  int readers_ ABSL_GUARDED_BY(mutex_) = 0;
  // Rows that a reader takes at once.
  int64_t share_ ABSL_GUARDED_BY(mutex_) = 1;
  // How often Run was called.
  int64_t round_ ABSL_GUARDED_BY(mutex_) = 0;
  // Threads that read rows, but for the one that called.
  int active_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of failed_row_.
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;

  // Thread i is that of reader i + 1.
  std::vector<std::thread> threads_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_DATA_READER_POOL_H_
