// The window in which a person signs in to a site. It shows pictures of a browser that runs at the executor, and sends
// the person's input to it. It stores only the key with which it connects again after a phone has cut its connection.

const kept = 'skerry-live'
const closeCodes = { spent: 4404, over: 4410 }
const words = {
  ask: 'Here you sign in to your own account. Go on only if you opened this window yourself: if somebody sent you its address, they would get your account.',
  opening: 'Opening the browser…',
  spent: 'This window can no longer be used. Go back to where you came from, and ask for a new one.',
  over: 'You can close this window.',
  done: 'Go back to the window you came from to finish. If you are not signed in yet, go on here.',
  lost: 'The connection was lost. Trying again…',
}

/** @template {HTMLElement} E @param {string} id @param {new () => E} type @returns {E} */
const element = (id, type) => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(id)
  return found
}
const screen = element('screen', HTMLCanvasElement)
const typed = element('typed', HTMLTextAreaElement)
const [told, saying] = [element('told', HTMLElement), element('words', HTMLElement)]
const go = element('go', HTMLButtonElement)
const ends = [element('back', HTMLButtonElement), element('done', HTMLButtonElement)]
const address = element('address', HTMLElement)
const canvas = screen.getContext('2d')

// Removes the token from the address and the history at once.
const token = location.hash.slice(1)
if (token) {
  history.replaceState(null, '', location.pathname)
  sessionStorage.removeItem(kept)
}

/** @type {WebSocket | undefined} */
let socket
let isOver = false
let tries = 0

/** @param {object} message */
const send = (message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

/** Shows a message instead of the picture, or shows the picture again. @param {keyof typeof words | null} what */
const tell = (what) => {
  told.textContent = what ? words[what] : ''
  saying.hidden = what === null
  screen.hidden = what !== null
  go.hidden = what !== 'ask' && what !== 'done'
  for (const button of ends) button.disabled = what !== null
}

const sendSize = () => {
  const { clientWidth, clientHeight } = element('screen', HTMLElement).parentElement ?? document.body
  const between = (/** @type {number} */ value, /** @type {number} */ least, /** @type {number} */ most) =>
    Math.round(Math.min(Math.max(value, least), most))
  send({ kind: 'size', width: between(clientWidth, 240, 1920), height: between(clientHeight, 200, 1440) })
}

function connect() {
  const key = sessionStorage.getItem(kept)
  if (!key && !token) return tell('spent')
  const made = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/live/socket`)
  socket = made
  made.binaryType = 'blob'
  made.onopen = () => send(key ? { key } : { token })
  made.onmessage = ({ data }) => (typeof data === 'string' ? take(JSON.parse(data)) : draw(data))
  made.onclose = ({ code }) => {
    if (isOver || made !== socket) return
    if (code === closeCodes.over) return end('over')
    if (code === closeCodes.spent) return end('spent')
    tell('lost')
    setTimeout(connect, Math.min(1000 * 2 ** tries++, 10_000))
  }
}

/** @param {{ kind: string, key?: string, name?: string, host?: string }} message */
function take({ kind, key, name, host }) {
  if (kind === 'ready') {
    tries = 0
    sessionStorage.setItem(kept, key ?? '')
    document.title = `Sign in to ${name}`
    sendSize()
  } else if (kind === 'address') address.textContent = host ?? ''
}

/**
 * Ends the view and tells the person why.
 *
 * @param {'spent' | 'over'} what the name of the text to show
 */
function end(what) {
  isOver = true
  sessionStorage.removeItem(kept)
  tell(what)
}

/** @param {Blob} data */
async function draw(data) {
  const picture = await createImageBitmap(data)
  if (screen.width !== picture.width) screen.width = picture.width
  if (screen.height !== picture.height) screen.height = picture.height
  canvas?.drawImage(picture, 0, 0)
  picture.close()
  if (told.textContent !== words.done && !isOver) tell(null)
}

/** @param {{ clientX: number, clientY: number }} event */
const placeOf = ({ clientX, clientY }) => {
  const { left, top, width, height } = screen.getBoundingClientRect()
  const within = (/** @type {number} */ part, /** @type {number} */ whole) =>
    Math.round(Math.min(Math.max(part, 0), 1) * Math.max(whole - 1, 0))
  return { x: within((clientX - left) / width, screen.width), y: within((clientY - top) / height, screen.height) }
}

/**
 * The finger on the screen: a tap clicks, a stroke scrolls. @type {{ x: number, y: number, isStroke: boolean } |
 * undefined}
 */
let finger
const strokeFrom = 8

screen.addEventListener('pointerdown', (event) => {
  event.preventDefault()
  screen.setPointerCapture(event.pointerId)
  if (event.pointerType === 'touch') finger = { x: event.clientX, y: event.clientY, isStroke: false }
  else if (event.button === 0) send({ kind: 'down', ...placeOf(event) })
})
screen.addEventListener('pointermove', (event) => {
  if (event.pointerType !== 'touch') return send({ kind: 'move', ...placeOf(event) })
  if (!finger) return
  const [dx, dy] = [finger.x - event.clientX, finger.y - event.clientY]
  if (!finger.isStroke && Math.hypot(dx, dy) < strokeFrom) return
  finger = { x: event.clientX, y: event.clientY, isStroke: true }
  send({ kind: 'wheel', ...placeOf(event), dx: Math.round(dx), dy: Math.round(dy) })
})
screen.addEventListener('pointerup', (event) => {
  const place = placeOf(event)
  if (event.pointerType === 'touch') {
    const isTap = finger && !finger.isStroke
    finger = undefined
    if (!isTap) return
    send({ kind: 'down', ...place })
    send({ kind: 'up', ...place })
  } else if (event.button === 0) send({ kind: 'up', ...place })
  // A phone shows its keyboard only if a field is focused while a finger is lifted.
  typed.focus({ preventScroll: true })
})
screen.addEventListener('pointercancel', () => {
  finger = undefined
})
screen.addEventListener('wheel', (event) => {
  event.preventDefault()
  send({ kind: 'wheel', ...placeOf(event), dx: Math.round(event.deltaX), dy: Math.round(event.deltaY) })
})

// The field always contains one character. A phone reports its backspace key only by deleting that character.
const filler = '\u200b'
const reset = () => {
  typed.value = filler
  typed.setSelectionRange(1, 1)
}
const flush = () => {
  const text = typed.value.replaceAll(filler, '')
  if (text) send({ kind: 'text', text })
  else if (typed.value === '') send({ kind: 'key', key: 'Backspace' })
  reset()
}
const keys = new Set(
  ['Enter', 'Tab', 'Backspace', 'Delete', 'Escape', 'Home', 'End', 'PageUp', 'PageDown'].concat(
    ...['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'],
  ),
)
typed.addEventListener('focus', reset)
typed.addEventListener('input', (event) => {
  if (!(event instanceof InputEvent && event.isComposing)) flush()
})
typed.addEventListener('compositionend', flush)
typed.addEventListener('keydown', (event) => {
  if (event.isComposing || !keys.has(event.key)) return
  event.preventDefault()
  send({ kind: 'key', key: event.shiftKey && event.key === 'Tab' ? 'Shift+Tab' : event.key })
})

const [back, done] = ends
back?.addEventListener('click', () => send({ kind: 'back' }))
done?.addEventListener('click', () => {
  tell('done')
  send({ kind: 'done' })
})
go.addEventListener('click', () => {
  if (socket) return tell(null)
  tell('opening')
  connect()
})

// The keyboard of a phone makes the window lower, but the page must keep its size. So only another width is a new size.
let width = innerWidth
addEventListener('resize', () => {
  if (width === innerWidth) return
  width = innerWidth
  sendSize()
})

// The link is used up only when somebody continues. A program that opens every address in a message does not use it up.
if (token) tell('ask')
else connect()
