import { describe, expect, it } from 'vitest';
import { type AdmissionStage, type Admitted, admit } from '../../src/workers/admission.js';
import { cancelAll, type Hold, settleAll, spendAll, type Taken } from '../../src/workers/hold.js';
import { settled } from './virtual-thread.js';

const call = (signal?: AbortSignal): Admitted => ({
  rpc: 'read',
  table: undefined,
  address: undefined,
  weight: 1,
  signal,
});

/** Stages that write down what is asked of them. */
class Course {
  readonly log: string[] = [];

  hold(name: string, waitedMs = 0): Hold {
    return {
      waitedNs: waitedMs * 1e6,
      spend: () => void this.log.push(`spend ${name}`),
      cancel: () => void this.log.push(`cancel ${name}`),
      settle: (verdict) => void this.log.push(`settle ${name} ${verdict}`),
    };
  }

  stage(
    name: string,
    answer: (maxWaitMs: number) => ReturnType<AdmissionStage['enter']> = () => this.hold(name),
    precheck?: () => void,
  ): AdmissionStage {
    return {
      name: 'host',
      ...(precheck !== undefined && { precheck }),
      enter: (_call, maxWaitMs) => {
        this.log.push(`enter ${name} ${maxWaitMs}`);
        return answer(maxWaitMs);
      },
    };
  }

  refusing(name: string): AdmissionStage {
    return this.stage(name, () => {
      throw new Error(`${name} says no`);
    });
  }
}

const later = <T>(value: T): Promise<T> => settled().then(() => value);

/** At once, and how much. */
function atOnce(taken: ReturnType<typeof admit>): Taken | undefined {
  if (taken instanceof Promise) throw new Error('somebody has to wait');
  return taken;
}

function count(taken: Taken | undefined): number {
  return taken === undefined ? 0 : 1 + count(taken.before);
}

describe('admit', () => {
  it('asks the stages in order, at once when nobody has to wait', () => {
    const course = new Course();
    const taken = atOnce(admit([course.stage('a'), course.stage('b')], call(), 100));
    expect(count(taken)).toBe(2);
    expect(course.log).toEqual(['enter a 100', 'enter b 100']);
    spendAll(taken);
    settleAll(taken, 'success');
    expect(course.log.slice(2).sort()).toEqual([
      'settle a success',
      'settle b success',
      'spend a',
      'spend b',
    ]);
  });

  it('passes over a stage that needs nothing', () => {
    const course = new Course();
    const stages = [course.stage('a', () => undefined), course.stage('b')];
    expect(count(atOnce(admit(stages, call(), 1)))).toBe(1);
    expect(atOnce(admit(stages.slice(0, 1), call(), 1))).toBeUndefined();
  });

  it('lets every stage refuse before anything is taken', () => {
    const course = new Course();
    const open = course.stage('b', undefined, () => {
      throw new Error('open');
    });
    expect(() => admit([course.stage('a'), open], call(), 1)).toThrow('open');
    expect(course.log).toEqual([]);
  });

  it('gives back what earlier stages took, last first, when a later one refuses', () => {
    const course = new Course();
    const stages = [course.stage('a'), course.stage('b'), course.refusing('c'), course.stage('d')];
    expect(() => admit(stages, call(), 1)).toThrow('c says no');
    expect(course.log.slice(2)).toEqual(['enter c 1', 'cancel b', 'cancel a']);
  });

  it('does the same when the refusal comes after a wait', async () => {
    const course = new Course();
    const stages = [
      course.stage('a'),
      course.stage('b', () => later(course.hold('b', 30))),
      course.refusing('c'),
    ];
    await expect(admit(stages, call(), 100)).rejects.toThrow('c says no');
    expect(course.log).toEqual([
      'enter a 100',
      'enter b 100',
      'enter c 70',
      'cancel b',
      'cancel a',
    ]);
  });

  it('does the same when the wait itself is rejected', async () => {
    const course = new Course();
    const stages = [
      course.stage('a'),
      course.stage('b', () => later(0).then(() => Promise.reject(new Error('b says no')))),
    ];
    await expect(admit(stages, call(), 100)).rejects.toThrow('b says no');
    expect(course.log).toEqual(['enter a 100', 'enter b 100', 'cancel a']);
  });

  it('has one patience for all stages, and none below zero', async () => {
    const course = new Course();
    const stages = [
      course.stage('a', () => later(course.hold('a', 60))),
      course.stage('b', () => later(course.hold('b', 60))),
      course.stage('c'),
    ];
    expect(count(await admit(stages, call(), 100))).toBe(3);
    expect(course.log).toEqual(['enter a 100', 'enter b 40', 'enter c 0']);
  });

  it('asks no further stage, and gives all back, when the caller has gone in between', async () => {
    const course = new Course();
    const controller = new AbortController();
    const stages = [
      course.stage('a'),
      course.stage('b', () =>
        later(course.hold('b')).then((hold) => {
          controller.abort('gone');
          return hold;
        }),
      ),
      course.stage('c'),
    ];
    await expect(admit(stages, call(controller.signal), 100)).rejects.toBe('gone');
    expect(course.log).toEqual(['enter a 100', 'enter b 100', 'cancel b', 'cancel a']);
  });

  it('tells of each stage that had a say, with what it was waited for', async () => {
    const course = new Course();
    const told: unknown[] = [];
    const stages = [
      course.stage('a', () => undefined),
      course.stage('b', () => later(course.hold('b', 5))),
      course.stage('c'),
    ];
    await admit(stages, call(), 100, (stage, waitedNs) => told.push([stage, waitedNs]));
    expect(told).toEqual([
      ['host', 5e6],
      ['host', 0],
    ]);
  });

  it('cancels in reverse order', () => {
    const course = new Course();
    cancelAll(atOnce(admit([course.stage('a'), course.stage('b')], call(), 1)));
    expect(course.log.slice(2)).toEqual(['cancel b', 'cancel a']);
  });
});
