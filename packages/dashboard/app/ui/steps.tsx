import './steps.css'
import type { ReactNode } from 'react'
import { IconCheck } from './icons.ts'

/** Steps to take one after the other. The first one that is not done is open. */
export function Steps({ children }: { children: ReactNode }) {
  return <ol className="steps">{children}</ol>
}

/**
 * One step. `action` stands at its end. The content is shown while the step is the current one, or always with
 * `isAlwaysOpen`.
 */
export function Step(props: {
  number: number
  title: string
  isDone: boolean
  isCurrent: boolean
  isAlwaysOpen?: boolean
  action?: ReactNode
  children?: ReactNode
}) {
  const { number, title, isDone, isCurrent, isAlwaysOpen = false, action, children } = props
  const state = isDone ? 'done' : isCurrent ? 'current' : 'ahead'
  return (
    <li className="step" data-state={state} aria-current={isCurrent ? 'step' : undefined}>
      <span className="step-mark" role="img" aria-label={isDone ? 'Done' : `Step ${number}`}>
        {isDone ? <IconCheck size={11} strokeWidth={2.2} /> : number}
      </span>
      <h2>{title}</h2>
      {action && <div className="step-action">{action}</div>}
      {(isCurrent || isAlwaysOpen) && children && <div className="step-content">{children}</div>}
    </li>
  )
}
