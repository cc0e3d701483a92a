import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

// A thread beside the adapter, which goes on when the adapter spins or blocks. It ends the whole process once its parent has
// gone, and once its memory has grown beyond the limit. V8's own limit would not count buffers. Plain JavaScript, so that
// the thread loads nothing that strips types.

const { parentPid, residentBytesMax, swollenMark } = workerData
const lookEveryMs = 50

setInterval(() => {
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
  if (process.memoryUsage.rss() <= residentBytesMax) return
  writeSync(2, swollenMark)
  process.kill(process.pid, 'SIGKILL')
}, lookEveryMs)
