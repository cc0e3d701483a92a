import type { Page } from 'playwright-core'
import type { WebSocket } from 'ws'
import type { SiteBrowser } from '../browser/site-browser.ts'
import { type Message, play, readMessage } from './input.ts'

/** The most steps of a person that wait for a slow page. Further steps are dropped. */
const waitingMax = 200

interface Frame {
  data: Buffer
  viewportWidth: number
  viewportHeight: number
}

/**
 * Shows the newest page of a browser in a window, once the window has sent its size. Repeats in the page what the
 * person does in the window.
 *
 * @returns a function that stops this. The end of the connection stops it too.
 */
export function show(browser: SiteBrowser, socket: WebSocket, done: () => void): () => Promise<void> {
  const { context } = browser
  let shown: Page | undefined
  let size: { width: number; height: number } | undefined
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  let isOver = false
  /** Runs one step after another, so that keys arrive in the order in which they were pressed. */
  const inTurn = (work: () => unknown) => {
    if (waiting >= waitingMax || isOver) return
    waiting++
    // A page that is being left accepts no input. That is not an error.
    last = last
      .then(() => (isOver ? undefined : work()))
      .catch(() => {})
      .then(() => void waiting--)
  }
  const tellAddress = () => {
    if (shown && !isOver) socket.send(JSON.stringify({ kind: 'address', host: URL.parse(shown.url())?.host ?? '' }))
  }
  const onFrame = ({ data, viewportWidth, viewportHeight }: Frame) => {
    if (isOver || viewportWidth !== size?.width || viewportHeight !== size.height) return
    // The next frame comes after this one was sent. A slow phone therefore gets fewer frames, and none late.
    return new Promise<void>((sent) => socket.send(data, () => sent()))
  }
  const cast = async () => {
    if (!size) return
    await shown?.screencast.stop().catch(() => {})
    shown = browser.page()
    await shown.setViewportSize(size)
    if (isOver) return
    await shown.screencast.start({ size, quality: 75, onFrame })
    tellAddress()
  }
  const closed = () => inTurn(cast)
  const watch = (page: Page) => page.once('close', closed).on('framenavigated', tellAddress)
  const opened = (page: Page) => {
    watch(page)
    inTurn(cast)
  }
  const take = (message: Message) => {
    if (message.kind === 'done') return done()
    if (message.kind !== 'size') return play(browser.page(), message)
    size = { width: message.width, height: message.height }
    return cast()
  }
  const stop = async () => {
    if (isOver) return
    isOver = true
    context.off('page', opened)
    for (const page of context.pages()) page.off('close', closed).off('framenavigated', tellAddress)
    await shown?.screencast.stop().catch(() => {})
  }
  for (const page of context.pages()) watch(page)
  context.on('page', opened)
  socket.on('message', (data) => {
    const message = readMessage(String(data))
    if (message) inTurn(() => take(message))
  })
  socket.once('close', () => void stop())
  return stop
}
