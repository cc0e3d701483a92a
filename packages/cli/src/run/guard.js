import { rmSync } from 'node:fs'

// Removes a file, or a folder with its content, when the process that started this one has ended. The pipe between them
// then closes, however that process ended. This process ignores signals, which are meant for the other one. It is plain
// JavaScript, so that it starts fast.

const [, , path] = process.argv
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => {})
process.stdin.resume().on('close', () => rmSync(String(path), { recursive: true, force: true }))
process.stdout.write('ready\n')
