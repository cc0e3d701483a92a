// Its key listener must be registered before the one below, which may cancel a prompt.
import '../prompts.ts'
import { useEffect, useLayoutEffect, useRef } from 'react'

// What lies over the page, the uppermost last: Escape is for that one alone, and when it ends the focus goes back to where
// it was. The toolkit does either only for a dialog that is there, closed, before it opens.

const layers: { current: () => void }[] = []

/** Elements that had the focus, the latest last. The one that opened a dialog may be gone when it closes, as menu items are. */
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
    // The open list of a field closes first.
    if (target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true') return
    layers.at(-1)?.current()
  },
  { capture: true },
)

/** Whether a dialog is open over the page. */
export const isCovered = () => layers.length > 0

/**
 * Registers the dialog around it for as long as it is open, and moves the focus into it. It stands before the dialog's
 * content.
 */
export function Layer({ onEscape }: { onEscape: () => void }) {
  const marker = useRef<HTMLSpanElement>(null)
  const latest = useRef(onEscape)
  latest.current = onEscape
  // Before anything can be typed: a value that is typed while the focus moves would land in another field.
  useLayoutEffect(() => takeFocus(marker.current?.closest<HTMLElement>('[role=dialog]')), [])
  useEffect(() => {
    const dialog = marker.current?.closest('[role=dialog]')
    layers.push(latest)
    return () => {
      layers.splice(layers.indexOf(latest), 1)
      setTimeout(() => returnFocus(dialog))
    }
  }, [])
  // The toolkit's focus trap focuses the first element of this attribute after a timer. A hidden one does not take the focus.
  return <span ref={marker} hidden data-autofocus />
}

const wanted = '[data-autofocus]:not([hidden])'
const focusable = ':is(a[href], button, input, select, textarea, [tabindex="0"]):not(:disabled, [tabindex="-1"])'

/** To the field that asks for it, or else to the first element that can have it. */
function takeFocus(dialog: HTMLElement | null | undefined): void {
  const first = dialog?.querySelector<HTMLElement>(wanted) ?? dialog?.querySelector<HTMLElement>(focusable)
  first?.focus({ preventScroll: true })
}

/** Does nothing when the focus has moved on. A closing dialog may still be in the page for a moment. */
function returnFocus(closed: Element | null | undefined): void {
  const at = document.activeElement
  if (at && at !== document.body && !closed?.contains(at)) return
  trail.findLast((one) => one.isConnected && !closed?.contains(one))?.focus({ preventScroll: true })
}
