import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Peer, type Port } from '../../../../src/core/work/threads/peer.ts';

type Desk = {
  readonly note: (text: string) => void;
  readonly ask: (text: string) => Promise<string>;
};

type Listener = (message: unknown) => void;

/** Two ports, each the other's far end. What is posted is counted, copied, and there in a later turn. */
class Channel {
  posted = 0;
  readonly #listeners: [Set<Listener>, Set<Listener>] = [new Set(), new Set()];

  port(side: 0 | 1): Port {
    const mine = this.#listeners[side];
    const theirs = this.#listeners[side === 0 ? 1 : 0];
    return {
      postMessage: (message) => {
        this.posted += 1;
        const copy: unknown = structuredClone(message);
        setImmediate(() => {
          for (const listener of theirs) listener(copy);
        });
      },
      on: (_, listener) => mine.add(listener),
      off: (_, listener) => mine.delete(listener),
    };
  }
}

function connected() {
  const channel = new Channel();
  const heard: string[] = [];
  const desk: Desk = {
    note: (text) => {
      heard.push(text);
    },
    ask: (text) => {
      heard.push(text);
      return Promise.resolve(`${text}!`);
    },
  };
  new Peer(channel.port(1), desk);
  return { channel, heard, peer: new Peer<Desk>(channel.port(0), {}) };
}

describe('a peer', () => {
  it('sends what it is to mention with the next call, in one message and in order', async () => {
    const { channel, heard, peer } = connected();
    peer.mention('note', 'one');
    peer.mention('note', 'two');
    const answer = peer.call('ask', 'three');
    expect(channel.posted).toBe(1);
    expect(await answer).toBe('three!');
    expect(heard).toEqual(['one', 'two', 'three']);
    expect(channel.posted).toBe(2);
  });

  it('sends what it is to mention a moment later though no call follows, in one message', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { channel, heard, peer } = connected();
    for (const moment of ['a', 'b']) {
      peer.mention('note', `${moment}1`);
      vi.advanceTimersByTime(49);
      peer.mention('note', `${moment}2`);
      expect(channel.posted).toBe(moment === 'a' ? 0 : 1);
      vi.advanceTimersByTime(1);
    }
    await nextTurn();
    await nextTurn();
    expect(heard).toEqual(['a1', 'a2', 'b1', 'b2']);
    expect(channel.posted).toBe(2);
  });

  it('sends what it is told at once, and before it what it was to mention', async () => {
    const { channel, heard, peer } = connected();
    peer.mention('note', 'one');
    peer.tell('note', 'two');
    expect(channel.posted).toBe(1);
    await nextTurn();
    await nextTurn();
    expect(heard).toEqual(['one', 'two']);
    expect(channel.posted).toBe(1);
  });

  it('sends nothing once it is closed', async () => {
    const { channel, heard, peer } = connected();
    peer.tell('note', 'before');
    peer.mention('note', 'as it was closed');
    peer.close(new Error('closed'));
    peer.tell('note', 'after');
    peer.mention('note', 'after');
    await expect(peer.call('ask', 'after')).rejects.toThrow('closed');
    await nextTurn();
    await nextTurn();
    expect(heard).toEqual(['before']);
    expect(channel.posted).toBe(1);
  });

  it('tells a call that cannot be sent so, and goes on', async () => {
    const { heard, peer } = connected();
    await expect(peer.call('ask', (() => 'no data') as never)).rejects.toThrow('could not be cloned');
    expect(await peer.call('ask', 'data')).toBe('data!');
    expect(heard).toEqual(['data']);
  });
});
