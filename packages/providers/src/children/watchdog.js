import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

// This thread continues when the adapter beside it spins or blocks. It ends the process when the parent is gone, or
// when the process uses more memory than the limit. V8's own limit does not count buffers. The file is plain
// JavaScript, so that the thread needs no type stripping.

const { parentPid, residentBytesMax, swollenMark } = workerData
const lookEveryMs = 50

setInterval(() => {
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
  if (process.memoryUsage.rss() <= residentBytesMax) return
  writeSync(2, swollenMark)
  process.kill(process.pid, 'SIGKILL')
}, lookEveryMs)
