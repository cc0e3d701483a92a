import { rmSync } from 'node:fs'

// Removes a file, or a folder with what is in it, once the process that started this one has ended, however it ended: the pipe between them closes then.
// Signals are for that process; plain JavaScript, to be there in a moment.

const [, , path] = process.argv
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => {})
process.stdin.resume().on('close', () => rmSync(String(path), { recursive: true, force: true }))
process.stdout.write('ready\n')
