// This import comes first, so that its key listener runs before the one below, which may cancel a prompt.
import '../prompts.ts'
import { useEffect, useLayoutEffect, useRef } from 'react'

// The open dialogs, the topmost last. Escape closes only the topmost one, and the focus then returns to where it was.
// Mantine does both only for a dialog that was mounted closed before it opened.

const layers: { current: () => void }[] = []

/**
 * Elements that had the focus, the latest last. The element that opened a dialog may no longer exist when the dialog
 * closes, for example a menu item.
 */
const trail: HTMLElement[] = []
const trailMax = 16

addEventListener('focusin', ({ target }) => {
  if (!(target instanceof HTMLElement)) return
  const was = trail.indexOf(target)
  if (was >= 0) trail.splice(was, 1)
  trail.push(target)
  if (trail.length > trailMax) trail.shift()
})

addEventListener(
  'keydown',
  ({ key, isComposing, target }) => {
    if (key !== 'Escape' || isComposing) return
    // An open dropdown list closes before its dialog does.
    if (target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true') return
    layers.at(-1)?.current()
  },
  { capture: true },
)

/** True if a dialog is open over the page. A dialog that is alone passes 1, to ask whether another one is above it. */
export const isCovered = (by = 0) => layers.length > by

/**
 * Registers the surrounding dialog while it is open, and moves the focus into it. Render it before the dialog's
 * content.
 */
export function Layer({ onEscape }: { onEscape: () => void }) {
  const marker = useRef<HTMLSpanElement>(null)
  const latest = useRef(onEscape)
  latest.current = onEscape
  // The focus must move before the person can type, because typed text could otherwise land in another field.
  useLayoutEffect(() => takeFocus(marker.current?.closest<HTMLElement>('[role=dialog]')), [])
  useEffect(() => {
    const dialog = marker.current?.closest('[role=dialog]')
    layers.push(latest)
    return () => {
      layers.splice(layers.indexOf(latest), 1)
      setTimeout(() => returnFocus(dialog))
    }
  }, [])
  // Mantine's focus trap focuses the first element with this attribute after a timer. It finds this hidden one, which
  // cannot take the focus.
  return <span ref={marker} hidden data-autofocus />
}

const wanted = '[data-autofocus]:not([hidden])'
const focusable = ':is(a[href], button, input, select, textarea, [tabindex="0"]):not(:disabled, [tabindex="-1"])'

/** Moves the focus to the field with `data-autofocus`, or else to the first focusable element. */
function takeFocus(dialog: HTMLElement | null | undefined): void {
  const first = dialog?.querySelector<HTMLElement>(wanted) ?? dialog?.querySelector<HTMLElement>(focusable)
  first?.focus({ preventScroll: true })
}

/** Returns the focus, unless it has already moved elsewhere. A closing dialog may stay in the page for a moment. */
function returnFocus(closed: Element | null | undefined): void {
  const at = document.activeElement
  if (at && at !== document.body && !closed?.contains(at)) return
  trail.findLast((one) => one.isConnected && !closed?.contains(one))?.focus({ preventScroll: true })
}
