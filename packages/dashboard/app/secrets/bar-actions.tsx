import { type ReactNode, useLayoutEffect, useState } from 'react'
import { createPortal } from 'react-dom'

/** Shows actions in the bar of the page, beside those that the page itself has there. */
export function BarActions({ children }: { children: ReactNode }) {
  const [bar, setBar] = useState<HTMLElement | null>(null)
  useLayoutEffect(() => setBar(document.getElementById('bar-more')), [])
  return bar && createPortal(children, bar)
}
