import { needed, object, oneOf, type Read, whole } from '@skerry/proxy/config/read'
import type { Page } from 'playwright-core'

const place = { x: needed(whole(0, 4096)), y: needed(whole(0, 4096)) }
const distance = needed(whole(-10_000, 10_000))
const is = <const K extends string>(kind: K) => ({ kind: needed(oneOf(kind)) })

/** The text is not trimmed, because a space is a key too. */
const typed: Read<string> = (value) => {
  if (typeof value !== 'string' || value.length > 4096) throw new Error('no text')
  return value
}

/** Keys that do not produce a character. */
const keys = [
  ...(['Enter', 'Tab', 'Shift+Tab', 'Backspace', 'Delete', 'Escape', 'Home', 'End', 'PageUp', 'PageDown'] as const),
  ...(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'] as const),
]

/** Every message that a window may send. */
const messages = {
  move: object({ ...is('move'), ...place }),
  down: object({ ...is('down'), ...place }),
  up: object({ ...is('up'), ...place }),
  wheel: object({ ...is('wheel'), ...place, dx: distance, dy: distance }),
  text: object({ ...is('text'), text: needed(typed) }),
  key: object({ ...is('key'), key: needed(oneOf(...keys)) }),
  back: object(is('back')),
  size: object({ ...is('size'), width: needed(whole(240, 1920)), height: needed(whole(200, 1440)) }),
  done: object(is('done')),
}

type Messages = typeof messages
export type Message = { [K in keyof Messages]: ReturnType<Messages[K]> }[keyof Messages]
type Step = Exclude<Message, { kind: 'size' | 'done' }>

/** Undefined for any other text. */
export function readMessage(text: string): Message | undefined {
  try {
    const value = JSON.parse(text) as { kind: keyof Messages }
    return Object.hasOwn(messages, value.kind) ? messages[value.kind](value, '') : undefined
  } catch {
    return undefined
  }
}

/** Repeats in a page what a person did in the window. */
export async function play(page: Page, step: Step): Promise<void> {
  const { mouse, keyboard } = page
  switch (step.kind) {
    case 'move':
      return mouse.move(step.x, step.y)
    case 'down':
      await mouse.move(step.x, step.y)
      return mouse.down()
    case 'up':
      await mouse.move(step.x, step.y)
      return mouse.up()
    case 'wheel':
      await mouse.move(step.x, step.y)
      return mouse.wheel(step.dx, step.dy)
    case 'text':
      return keyboard.type(step.text)
    case 'key':
      return keyboard.press(step.key)
    case 'back':
      await page.goBack({ timeout: 5_000 })
  }
}
