import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { remainingText } from './durations.ts'

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const secondsTo = (at: string) => Math.max(0, Math.ceil((Date.parse(at) - Date.now()) / 1000))

/**
 * Counts down to an instant, second by second. A tooltip shows the instant. Screen readers do not announce each second.
 */
export function Countdown({ to }: { to: string }) {
  const [left, setLeft] = useState(() => secondsTo(to))
  useEffect(() => {
    const tick = () => setLeft(secondsTo(to))
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [to])
  return (
    <Tooltip label={exact.format(new Date(to))} withArrow>
      <time dateTime={to} role="timer" aria-live="off" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {left > 0 ? remainingText(left) : 'over'}
      </time>
    </Tooltip>
  )
}
