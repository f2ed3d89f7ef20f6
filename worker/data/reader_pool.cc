#include "worker/data/reader_pool.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/time/time.h"

namespace paceline {
namespace {

// Longest sleep of a thread; any change wakes it earlier.
constexpr absl::Duration kReaderSleep = absl::Seconds(1);

// A reader takes its rows in so many portions, lest the others wait for it.
constexpr int64_t kPortions = 4;

// An image may need more memory than there is.
absl::Status ReadOrFail(ReaderPool::ReadRow read, int reader, int64_t row) {
  try {
    return read(reader, row);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no memory is left to read an example");
  }
}

}  // namespace

ReaderPool::~ReaderPool() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status ReaderPool::Run(int readers, int64_t count, ReadRow read) {
  StartThreads(readers);
  const int64_t share = std::max<int64_t>(count / (readers * kPortions), 1);
  next_row_ = 0;
  failed_row_ = count;
  if (readers > 1) {
    MutexLock lock(mutex_);
    read_ = &read;
    count_ = count;
    readers_ = readers;
    share_ = share;
    ++round_;
    changed_.NotifyAll();
  }
  ReadRows(0, count, share, read);
  MutexLock lock(mutex_);
  read_ = nullptr;
  while (active_ > 0) changed_.WaitFor(mutex_, kReaderSleep);
  return std::exchange(status_, absl::OkStatus());
}

void ReaderPool::StartThreads(int readers) {
  while (static_cast<int>(threads_.size()) < readers - 1) {
    const int reader = static_cast<int>(threads_.size()) + 1;
    threads_.emplace_back([this, reader] { Serve(reader); });
  }
}

bool ReaderPool::HasWork(int reader, int64_t served) const {
  return read_ != nullptr && reader < readers_ && round_ != served;
}

void ReaderPool::Serve(int reader) {
  // The last round that this thread took part in.
  int64_t served = 0;
  mutex_.Lock();
  while (!is_stopping_) {
    if (!HasWork(reader, served)) {
      changed_.WaitFor(mutex_, kReaderSleep);
      continue;
    }
    served = round_;
    ++active_;
    const ReadRow read = *read_;
    const int64_t count = count_;
    const int64_t share = share_;
    mutex_.Unlock();
    ReadRows(reader, count, share, read);
    mutex_.Lock();
    --active_;
    changed_.NotifyAll();
  }
  mutex_.Unlock();
}

// Rows are taken in their order, so those before one that fails are read, or
// being read.
void ReaderPool::ReadRows(int reader, int64_t count, int64_t share,
                          ReadRow read) {
  while (true) {
    const int64_t begin = next_row_.fetch_add(share);
    if (begin >= count) return;
    const int64_t end = std::min(begin + share, count);
    for (int64_t row = begin; row < end; ++row) {
      if (row > failed_row_) return;
      absl::Status status = ReadOrFail(read, reader, row);
      if (!status.ok()) return Fail(row, std::move(status));
    }
  }
}

void ReaderPool::Fail(int64_t row, absl::Status status) {
  MutexLock lock(mutex_);
  if (row > failed_row_) return;
  failed_row_ = row;
  status_ = std::move(status);
}

}  // namespace paceline
