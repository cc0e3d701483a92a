import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'

// The first program in the sandbox. It listens at the addresses of the proxy outside, and passes connections on to
// socket files, which are the only way out. Then it starts the program. When this process ends, the sandbox and all its
// processes end. It is plain JavaScript, so that it starts fast.

/** @typedef {{ listen: { host: string, port: number, path: string }[], file: string, argv: string[] }} Start */

/** @type {import('node:child_process').ChildProcess | undefined} */
let child

/** @param {unknown} message */
const tell = (message) => process.send?.(message, () => process.exit())

/** @param {Start['listen'][number]} at */
function listen({ host, port, path }) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const out = connect({ path, allowHalfOpen: true })
    socket.on('error', () => out.destroy()).on('close', () => out.destroy())
    out.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.pipe(out).pipe(socket)
  })
  return new Promise((done, fail) => server.on('error', fail).listen(port, host, () => done(undefined)))
}

/** @param {Start} start */
async function begin({ listen: places, file, argv }) {
  await Promise.all(places.map(listen))
  const [argv0 = file, ...args] = argv
  child = spawn(file, args, { argv0, stdio: 'inherit' })
  child.on('error', (error) => tell({ failed: 'code' in error ? error.code : '' }))
  child.on('exit', (code, signal) => tell({ ended: { code, signal } }))
}

process.on('disconnect', () => process.exit(1))
process.on('message', (/** @type {{ start?: Start, signal?: NodeJS.Signals }} */ { start, signal }) => {
  if (start) begin(start).catch(({ code }) => tell({ failed: code }))
  if (signal) child?.kill(signal)
})
